// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"fmt"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// external is what one pass of the reconciler works with.
type external struct {
	client   client.Client
	family   *family
	remover  *remover
	record   event.Recorder
	children []*v1alpha1.Manifest
	steps    []step
}

// Observe the Manifests. A Kyma without modules exists as soon as it was seen once.
func (e *external) Observe(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalObservation, error) {
	if meta.WasDeleted(k) {
		return e.observeDeletion(ctx, k)
	}
	pending := 0
	for i := range e.steps {
		if e.steps[i].action != leave {
			pending++
		}
	}
	exists := meta.GetExternalName(k) != "" || len(e.children) > 0
	before := k.Status.AtProvider.DeepCopy()
	report(k, e.steps)
	if exists && pending == 0 {
		e.tell(k, before)
	}
	return managed.ExternalObservation{ResourceExists: exists, ResourceUpToDate: pending == 0, Diff: difference(e.steps)}, nil
}

// observeDeletion says whether any Manifest is left. The finalizer hangs on the answer, so that the API server itself is
// asked: the cache may lack a Manifest that was made a moment ago.
func (e *external) observeDeletion(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalObservation, error) {
	left := len(e.children) > 0
	if !left {
		var err error
		if left, err = e.family.unseen(ctx, k); err != nil {
			return managed.ExternalObservation{}, err
		}
	}
	e.steps = removal(k, e.children)
	report(k, e.steps)
	return managed.ExternalObservation{ResourceExists: left, ResourceUpToDate: true}, nil
}

// removal of all Manifests.
func removal(k *v1alpha1.Kyma, children []*v1alpha1.Manifest) []step {
	return (&planner{kyma: &v1alpha1.Kyma{ObjectMeta: k.ObjectMeta}, children: children}).plan()
}

func difference(steps []step) string {
	var lines []string
	for i := range steps {
		s := &steps[i]
		switch s.action {
		case create:
			lines = append(lines, s.status.Name+" is to be installed")
		case correct:
			lines = append(lines, s.status.Name+" is to be changed")
		case remove:
			lines = append(lines, s.status.Name+" is to be removed")
		case leave:
		}
	}
	return strings.Join(lines, "; ")
}

// Create the Manifests of all modules.
func (e *external) Create(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalCreation, error) {
	meta.SetExternalName(k, k.Name)
	return managed.ExternalCreation{}, e.act(ctx, k)
}

// Update the Manifests, and say what the modules have become.
func (e *external) Update(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalUpdate, error) {
	before := k.Status.AtProvider.DeepCopy()
	err := e.act(ctx, k)
	report(k, e.steps)
	e.tell(k, before)
	return managed.ExternalUpdate{}, err
}

// act on all modules. One that fails does not keep the others.
func (e *external) act(ctx context.Context, k *v1alpha1.Kyma) error {
	var failed []error
	for i := range e.steps {
		s := &e.steps[i]
		if err := e.take(ctx, k, s); err != nil {
			err = errors.Wrapf(err, "module %s", s.status.Name)
			s.fail(err.Error())
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// take one step.
func (e *external) take(ctx context.Context, k *v1alpha1.Kyma, s *step) error {
	switch s.action {
	case create:
		err := e.client.Create(ctx, s.wanted)
		if kerrors.IsAlreadyExists(err) {
			// It is ours and the cache does not show it yet, or there will be a better message with the next look.
			return nil
		}
		if err != nil {
			return errors.Wrapf(err, "cannot create Manifest %s", s.wanted.Name)
		}
		e.record.Event(k, event.Normal(reasonEnabled, fmt.Sprintf("Module %s is being installed: version %s of channel %s, Manifest %s",
			s.status.Name, s.status.Version, s.status.Channel, s.wanted.Name)))
	case correct:
		err := e.client.Patch(ctx, s.wanted, client.MergeFrom(s.live))
		if err != nil {
			return errors.Wrapf(err, "cannot change Manifest %s", s.live.Name)
		}
		if was := s.live.Spec.ForProvider.Version; was != s.status.Version {
			reason := reasonUpgraded
			if c, err := module.CompareVersions(s.status.Version, was); err == nil && c < 0 {
				reason = reasonDowngraded
			}
			e.record.Event(k, event.Normal(reason, fmt.Sprintf("Module %s goes from version %s to %s of channel %s",
				s.status.Name, was, s.status.Version, s.status.Channel)))
		}
	case remove:
		if err := e.remover.remove(ctx, k, s.live); err != nil {
			return err
		}
		e.record.Event(k, event.Normal(reasonRemoved, fmt.Sprintf("Module %s is being removed, Manifest %s", s.status.Name, s.live.Name)))
	case leave:
	}
	return nil
}

// Delete the Manifests. It is called until none is left.
func (e *external) Delete(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalDelete, error) {
	if k.Annotations[v1alpha1.AnnotationAbandon] == "true" {
		if err := e.abandon(ctx, k); err != nil {
			return managed.ExternalDelete{}, err
		}
	}
	return managed.ExternalDelete{}, e.act(ctx, k)
}

// abandon hands the annotation on to the Manifests, whose controller gives up what it cannot reach.
func (e *external) abandon(ctx context.Context, k *v1alpha1.Kyma) error {
	var modules []string
	for _, m := range e.children {
		if m.Annotations[v1alpha1.AnnotationAbandon] == "true" {
			continue
		}
		out := m.DeepCopy()
		meta.AddAnnotations(out, map[string]string{v1alpha1.AnnotationAbandon: "true"})
		if err := e.client.Patch(ctx, out, client.MergeFrom(m)); client.IgnoreNotFound(err) != nil {
			return errors.Wrapf(err, "cannot annotate Manifest %s", m.Name)
		}
		modules = append(modules, fmt.Sprintf("%s (version %s, Manifest %s)", moduleOf(k, m), m.Spec.ForProvider.Version, m.Name))
	}
	if len(modules) > 0 {
		e.record.Event(k, event.Warning(reasonAbandoned, errors.Errorf(
			"what cannot be reached any more in the cluster of %s %s is left behind there: modules %s",
			k.Spec.ProviderConfigReference.Kind, k.Spec.ProviderConfigReference.Name, strings.Join(modules, ", "))))
	}
	return nil
}

// Disconnect has nothing to do.
func (e *external) Disconnect(context.Context) error { return nil }
