// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/lane"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// external is what one pass of the reconciler works with.
type external struct {
	client   client.Client
	family   *family
	remover  *remover
	record   event.Recorder
	lanes    *lane.Lanes
	children []*v1alpha1.Manifest
	steps    []step
	// before is the status that was there before this pass.
	before *v1alpha1.KymaStatus
}

// Observe the Manifests. A Kyma without modules exists as soon as it was seen once.
func (e *external) Observe(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalObservation, error) {
	if meta.WasDeleted(k) {
		return e.observeDeletion(ctx, k)
	}
	done := !slices.ContainsFunc(e.steps, func(s step) bool { return s.action != leave })
	exists := meta.GetExternalName(k) != "" || len(e.children) > 0
	if refs := references(e.steps); !exists {
		// It is written along with what else is before Create.
		k.Spec.ResourceRefs = refs
	} else if !slices.Equal(k.Spec.ResourceRefs, refs) {
		done = false
	}
	e.before = k.Status.DeepCopy()
	report(k, e.steps)
	if exists && done {
		e.tell(k)
	}
	e.settle()
	return managed.ExternalObservation{ResourceExists: exists, ResourceUpToDate: done, Diff: pending(e.steps)}, nil
}

// observeDeletion says whether any Manifest is left. The finalizer hangs on the answer, so that the API server itself is
// asked: the cache may lack a Manifest that was made a moment ago.
func (e *external) observeDeletion(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalObservation, error) {
	left := len(e.children) > 0
	if !left {
		var err error
		if left, err = e.family.unseen(ctx, k, nil); err != nil {
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

// pending says what is to be done.
func pending(steps []step) string {
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
	err := errors.Join(e.act(ctx, k), e.refer(ctx, k))
	// What Observe has said is taken back: where it ends as it was, nothing has changed, not even for a moment.
	k.Status = *e.before.DeepCopy()
	report(k, e.steps)
	e.tell(k)
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

// settle the Manifests that have arrived.
func (e *external) settle() {
	for i := range e.steps {
		if s := &e.steps[i]; s.action == leave && s.live != nil && s.status.State == v1alpha1.StateReady {
			e.lanes.Settle(client.ObjectKeyFromObject(s.live))
		}
	}
}

// choose the lane of a Manifest that is about to be written: a user waits for it, or it is one of many.
func (e *external) choose(k *v1alpha1.Kyma, s *step) {
	switch {
	case s.wanted == nil:
	case e.lanes.Edited(client.ObjectKeyFromObject(k)) != 0:
		e.lanes.Settle(client.ObjectKeyFromObject(s.wanted))
	default:
		e.lanes.Roll(client.ObjectKeyFromObject(s.wanted))
	}
}

// take one step.
func (e *external) take(ctx context.Context, k *v1alpha1.Kyma, s *step) error {
	e.choose(k, s)
	switch s.action {
	case create:
		// What comes back is decoded into the object, and must not reach the templates and Kymas that it shares fields with.
		err := e.client.Create(ctx, s.wanted.DeepCopy())
		if kerrors.IsAlreadyExists(err) {
			return e.taken(ctx, k, s.wanted.Name)
		}
		if err != nil {
			return errors.Wrapf(err, "cannot create Manifest %s", s.wanted.Name)
		}
		e.record.Event(k, event.Normal(reasonEnabled, fmt.Sprintf("Module %s is being installed: version %s of channel %s, Manifest %s",
			s.status.Name, s.status.Version, s.status.Channel, s.wanted.Name)))
	case correct:
		return e.correct(ctx, k, s)
	case remove:
		if err := e.remover.remove(ctx, k, s.live); err != nil {
			return err
		}
		e.record.Event(k, event.Normal(reasonRemoved, fmt.Sprintf("Module %s is being removed, Manifest %s", s.status.Name, s.live.Name)))
	case leave:
	}
	return nil
}

// taken says what is wrong with a name that is taken. Nothing is where the Manifest is ours, and the cache does not show
// it yet.
func (e *external) taken(ctx context.Context, k *v1alpha1.Kyma, name string) error {
	other, err := stranger(ctx, e.family.server, k, name)
	if err != nil || other == nil {
		return err
	}
	return errors.New(collision(other))
}

// correct a Manifest. One that is gone by now is made again when the cache shows that.
func (e *external) correct(ctx context.Context, k *v1alpha1.Kyma, s *step) error {
	p, err := difference(s.live, s.wanted)
	if err != nil {
		return err
	}
	if err := e.client.Patch(ctx, s.wanted.DeepCopy(), p); notfound.Ignore(err) != nil {
		return errors.Wrapf(notfound.Explain(err), "cannot change Manifest %s", s.live.Name)
	}
	was := installedVersion(s.live)
	s.status.Version, s.status.Channel = s.wanted.Spec.ForProvider.Version, s.wanted.Labels[v1alpha1.LabelChannel]
	if was == s.status.Version || planned(k) {
		return nil
	}
	reason := reasonUpgraded
	if c, err := module.CompareVersions(s.status.Version, was); err == nil && c < 0 {
		reason = reasonDowngraded
	}
	e.record.Event(k, event.Normal(reason, fmt.Sprintf("Module %s goes from version %s to %s of channel %s",
		s.status.Name, was, s.status.Version, s.status.Channel)))
	return nil
}

// Delete the Manifests. While all are on their way out nobody calls it.
func (e *external) Delete(ctx context.Context, k *v1alpha1.Kyma) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, e.act(ctx, k)
}

// Disconnect has nothing to do.
func (e *external) Disconnect(context.Context) error { return nil }
