// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
)

// unserved is how long an established kind that is not served yet is left before the next look.
const unserved = 500 * time.Millisecond

// A step sets up one or more controllers.
type step struct {
	// name of the kind that they work on.
	name string
	// kinds that must be served.
	kinds []schema.GroupVersionKind
	// after is the name of an earlier step, whose indexes this one uses.
	after string
	setup func() error
}

// begin sets up each step once its kinds are served, where the provider may watch which are, and all of them otherwise.
func begin(ctx context.Context, mgr ctrl.Manager, steps []step, o controller.Options) error {
	watch, err := mayWatchDefinitions(ctx, mgr.GetClient())
	if err != nil {
		return err
	}
	if !watch {
		o.Logger.Info("Starting all controllers at once, as the provider may not get, list and watch CustomResourceDefinitions")
		return all(steps)
	}
	a := newActivation(mgr.GetRESTMapper(), steps, o.Logger)
	g := &gate.Gate[schema.GroupVersionKind]{}
	a.register(g)
	o.Gate = g
	if err := customresourcesgate.Setup(mgr, o); err != nil {
		return errors.Wrap(err, "cannot set up the controller of CustomResourceDefinitions")
	}
	return errors.Wrap(mgr.Add(a), "cannot set up the start of controllers")
}

// mayWatchDefinitions asks the control plane what it grants.
func mayWatchDefinitions(ctx context.Context, c client.Client) (bool, error) {
	for _, verb := range []string{"get", "list", "watch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions", Verb: verb,
			},
		}}
		if err := c.Create(ctx, review); err != nil {
			return false, errors.Wrap(err, "cannot ask the control plane whether the provider may watch CustomResourceDefinitions")
		}
		if !review.Status.Allowed {
			return false, nil
		}
	}
	return true, nil
}

// all steps, in their order.
func all(steps []step) error {
	for i := range steps {
		switch err := steps[i].setup(); {
		case meta.IsNoMatchError(err):
			return errors.Wrapf(err, "cannot start the controller of %s: a provider that may not watch CustomResourceDefinitions needs all of %s when it starts",
				steps[i].name, strings.Join(names(steps[i].kinds), ", "))
		case err != nil:
			return errors.Wrapf(err, "cannot start the controller of %s", steps[i].name)
		}
	}
	return nil
}

// An activation is the part of the manager that sets up steps while it runs, one after the other. An error ends it, and with
// it the manager: a provider without one of its controllers would look well and do nothing.
type activation struct {
	mapper meta.RESTMapper
	log    logging.Logger
	// steps that are not set up, in their order.
	steps []step
	// released are the names of steps whose kinds are established. The gate tells them once, from goroutines of its own.
	released chan string
}

func newActivation(mapper meta.RESTMapper, steps []step, log logging.Logger) *activation {
	return &activation{mapper: mapper, log: log, steps: slices.Clone(steps), released: make(chan string, len(steps))}
}

// register the steps at a gate.
func (a *activation) register(g controller.Gate) {
	for i := range a.steps {
		name := a.steps[i].name
		g.Register(func() { a.released <- name }, a.steps[i].kinds...)
		a.log.Info("Waiting for the kinds of a controller", "controller", name, "kinds", names(a.steps[i].kinds))
	}
}

// Start sets up steps until all are, or the context is done.
func (a *activation) Start(ctx context.Context) error {
	ready := map[string]bool{}
	for len(a.steps) > 0 {
		var again <-chan time.Time
		if slices.ContainsFunc(a.steps, func(s step) bool { return ready[s.name] }) {
			again = time.After(unserved)
		}
		select {
		case <-ctx.Done():
			return nil
		case name := <-a.released:
			ready[name] = true
		case <-again:
		}
		if err := a.advance(ready); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // A manager that stops takes no more controllers.
			}
			return err
		}
	}
	return nil
}

// advance sets up the steps that can be, in their order, and takes them out.
func (a *activation) advance(ready map[string]bool) error {
	var left []step
	for _, s := range a.steps {
		waits := slices.ContainsFunc(left, func(l step) bool { return l.name == s.after })
		if !ready[s.name] || waits || !a.served(s.kinds) {
			left = append(left, s)
			continue
		}
		if err := s.setup(); err != nil {
			return errors.Wrapf(err, "cannot start the controller of %s", s.name)
		}
		a.log.Info("Started a controller", "controller", s.name)
	}
	a.steps = left
	return nil
}

// served says whether discovery shows the kinds. It may lag behind the condition of a CustomResourceDefinition.
func (a *activation) served(kinds []schema.GroupVersionKind) bool {
	for _, k := range kinds {
		if _, err := a.mapper.RESTMapping(k.GroupKind(), k.Version); err != nil {
			a.log.Debug("A kind is not served yet", "kind", k.String(), "error", err)
			return false
		}
	}
	return true
}

func names(kinds []schema.GroupVersionKind) []string {
	out := make([]string, 0, len(kinds))
	for _, k := range kinds {
		out = append(out, k.Kind)
	}
	return out
}
