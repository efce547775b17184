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

// unserved is the interval at which an activation checks discovery for kinds that are established but not served yet.
const unserved = 500 * time.Millisecond

// A step sets up one or more controllers.
type step struct {
	// name is the plural of the kind that the controllers reconcile.
	name string
	// kinds lists the kinds that must be served before setup.
	kinds []schema.GroupVersionKind
	// after is the name of an earlier step whose indexes this step uses, or empty.
	after string
	setup func() error
}

// begin sets up each step once its kinds are served and this replica is the leader. If the provider is not allowed to watch CRDs, begin sets up
// all steps immediately. In both cases, the objects are in the cache before this replica is the leader.
func begin(ctx context.Context, mgr ctrl.Manager, steps []step, o controller.Options) error {
	watch, err := mayWatchCRDs(ctx, mgr.GetClient())
	if err != nil {
		return err
	}
	if !watch {
		o.Logger.Info("Starting all controllers at once, because the provider has no permission to get, list and watch CustomResourceDefinitions")
		return all(steps)
	}
	kinds, err := watchedKinds(mgr.GetScheme(), steps)
	if err != nil {
		return err
	}
	if err := mgr.Add(&standby{informers: mgr.GetCache(), kinds: kinds, elected: mgr.Elected(), log: o.Logger}); err != nil {
		return errors.Wrap(err, "cannot set up the standby")
	}
	a := newActivation(mgr.GetRESTMapper(), steps, o.Logger)
	g := &gate.Gate[schema.GroupVersionKind]{}
	a.register(g)
	o.Gate = g
	if err := customresourcesgate.Setup(mgr, o); err != nil {
		return errors.Wrap(err, "cannot set up the controller for CustomResourceDefinitions")
	}
	return errors.Wrap(mgr.Add(a), "cannot set up the gate for starting controllers")
}

// mayWatchCRDs reports whether the provider is allowed to get, list and watch CRDs.
func mayWatchCRDs(ctx context.Context, c client.Client) (bool, error) {
	for _, verb := range []string{"get", "list", "watch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: apiextensionsv1.GroupName, Resource: "customresourcedefinitions", Verb: verb,
			},
		}}
		if err := c.Create(ctx, review); err != nil {
			return false, errors.Wrap(err, "cannot check whether the provider has permission to watch CustomResourceDefinitions")
		}
		if !review.Status.Allowed {
			return false, nil
		}
	}
	return true, nil
}

// all sets up all steps in order.
func all(steps []step) error {
	for i := range steps {
		switch err := steps[i].setup(); {
		case meta.IsNoMatchError(err):
			return errors.Wrapf(err, "cannot start the controller of %s: without permission to watch CustomResourceDefinitions, "+
				"the provider needs all of %s when it starts", steps[i].name, strings.Join(names(steps[i].kinds), ", "))
		case err != nil:
			return errors.Wrapf(err, "cannot start the controller of %s", steps[i].name)
		}
	}
	return nil
}

// An activation is a runnable of the manager that sets up steps one at a time while the manager runs. If a setup fails, the
// activation ends the manager: without one of its controllers, the provider would look healthy but not reconcile everything.
type activation struct {
	mapper meta.RESTMapper
	log    logging.Logger
	// steps lists the steps that are not set up yet, in order.
	steps []step
	// released receives the names of steps whose kinds are established. The gate sends each name once, each from its own goroutine.
	released chan string
}

// newActivation returns an activation of steps.
func newActivation(mapper meta.RESTMapper, steps []step, log logging.Logger) *activation {
	return &activation{mapper: mapper, log: log, steps: slices.Clone(steps), released: make(chan string, len(steps))}
}

// register registers the steps with a gate.
func (a *activation) register(g controller.Gate) {
	for i := range a.steps {
		name := a.steps[i].name
		g.Register(func() { a.released <- name }, a.steps[i].kinds...)
		a.log.Info("Waiting for the CRDs of a controller", "controller", name, "kinds", names(a.steps[i].kinds))
	}
}

// Start sets up steps until all are set up or the context is done.
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
				return nil //nolint:nilerr // A manager that stops accepts no more controllers.
			}
			return err
		}
	}
	return nil
}

// advance sets up the steps whose kinds are served and whose earlier step is set up, and removes them from a.steps. ready
// contains the names of released steps.
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

// served reports whether discovery contains the kinds. Discovery can lag behind the condition Established of a CRD.
func (a *activation) served(kinds []schema.GroupVersionKind) bool {
	for _, k := range kinds {
		if _, err := a.mapper.RESTMapping(k.GroupKind(), k.Version); err != nil {
			a.log.Debug("A kind is not served yet", "kind", k.String(), "error", err)
			return false
		}
	}
	return true
}

// names returns the names of kinds without group and version.
func names(kinds []schema.GroupVersionKind) []string {
	out := make([]string, 0, len(kinds))
	for _, k := range kinds {
		out = append(out, k.Kind)
	}
	return out
}
