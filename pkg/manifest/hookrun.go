// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A hookRunner runs the hooks of one event, as far as that goes without waiting.
type hookRunner struct {
	*work

	hooks   []hook
	timeout time.Duration
	// run is changed in place; saved is what is in the inventory.
	run   *inventory.Run
	saved inventory.Run
	// save the run.
	save func(ctx context.Context) error
	// taken is called with each object that became a hook, and is no longer a member of the set.
	taken func(k cluster.ObjectRef)
}

// advance the run. It returns what it waits for; empty once the event is over, which may be because a hook failed.
func (h *hookRunner) advance(ctx context.Context) (string, error) {
	for !h.run.Over {
		do := h.tidy
		if h.run.Failed == "" && h.run.Index < len(h.hooks) {
			do = h.runOne
		}
		if waiting, err := do(ctx); err != nil || waiting != "" {
			return waiting, err
		}
	}
	return "", nil
}

// flush the run into the inventory, if it changed.
func (h *hookRunner) flush(ctx context.Context) error {
	if *h.run == h.saved {
		return nil
	}
	if err := h.save(ctx); err != nil {
		return err
	}
	h.saved = *h.run
	return nil
}

// runOne hook, the one whose turn it is.
func (h *hookRunner) runOne(ctx context.Context) (string, error) {
	hk := &h.hooks[h.run.Index]
	if h.run.Started == 0 {
		h.run.Started = h.e.now().Unix()
		if err := h.flush(ctx); err != nil {
			return "", err
		}
	}
	if h.run.UID == "" {
		waiting, err := h.create(ctx, hk)
		if err != nil {
			return "", errors.Wrapf(err, "hook %s", h.run.Event)
		}
		if waiting != "" {
			return h.patience(ctx, hk, waiting)
		}
		if h.run.Failed != "" {
			return "", nil
		}
	}
	outcome, message, err := h.outcome(ctx, hk)
	if err != nil {
		return "", err
	}
	switch outcome {
	case cluster.Current:
		h.run.Index++
		h.run.Done++
		h.run.UID, h.run.Started = "", 0
		return "", nil
	case cluster.Failed:
		// Written down before its object may be deleted: one that is gone would count as done.
		h.fail(hk, message, h.lastWords(ctx, hk))
		return "", h.flush(ctx)
	case cluster.InProgress, cluster.Terminating:
	}
	return h.patience(ctx, hk, message)
}

// fail the run because of one hook.
func (h *hookRunner) fail(hk *hook, why, words string) {
	h.run.Failed = fmt.Sprintf("hook %s %s %s", h.run.Event, hk.Ref, why)
	if words != "" {
		h.run.Failed += ": " + words
	}
}

// patience ends after the timeout.
func (h *hookRunner) patience(ctx context.Context, hk *hook, waiting string) (string, error) {
	if h.e.now().Before(time.Unix(h.run.Started, 0).Add(h.timeout)) {
		return fmt.Sprintf("hook %s %s %s", h.run.Event, hk.Ref, waiting), nil
	}
	h.fail(hk, fmt.Sprintf("was not done within %s: it %s", h.timeout, waiting), h.lastWords(ctx, hk))
	return "", h.flush(ctx)
}

// create the object of a hook, after what is in its place was deleted. It returns what it waits for.
func (h *hookRunner) create(ctx context.Context, hk *hook) (string, error) {
	for range 2 {
		sum, _, err := h.Client.Apply(ctx, &hk.Desired, true)
		if err == nil {
			h.run.UID = sum.UID
			h.taken(hk.Ref)
			return "", nil
		}
		if !kerrors.IsConflict(err) {
			return "", errors.Wrap(ssa.Explain(err), hk.Ref.String())
		}
		m, err := h.Metadata(ctx, hk.GVK(), hk.Ref)
		if err != nil {
			return "", err
		}
		if m == nil {
			continue
		}
		if m.Annotations[annotationHookRun] == hk.identity {
			// It was created by a step that was cut off.
			h.run.UID = string(m.UID)
			h.taken(hk.Ref)
			return "", nil
		}
		waiting, err := h.makeRoom(ctx, hk, m)
		if err != nil || waiting != "" || h.run.Failed != "" {
			return waiting, err
		}
	}
	return "is being replaced", nil
}

// makeRoom for a hook: what is left of the last run is deleted, where its policy says so.
func (h *hookRunner) makeRoom(ctx context.Context, hk *hook, m *metav1.PartialObjectMetadata) (string, error) {
	foreign := m.Labels[object.LabelPartOf] != h.id
	switch {
	case foreign && !object.IsReplaceable(hk.Ref.GroupKind()):
		return "", &refusedError{errors.Errorf("%s exists and does not belong to this module; it is not replaced, as what it holds "+
			"would be lost: take the hook out, or delete it yourself", hk.Ref)}
	case foreign && !h.s.Adopt:
		return "", &refusedError{errors.Errorf("%s exists and does not belong to this module; remove it, or set adopt to take it over", hk.Ref)}
	case m.DeletionTimestamp != nil:
		return "waits until the one before is deleted", nil
	case hk.Ref.GroupKind() == object.CRDKind:
		h.fail(hk, "exists already, and a definition is never deleted to be made anew; take it out of the hooks", "")
		return "", h.flush(ctx)
	case !hk.deletedBy(policyBefore):
		h.fail(hk, "exists already, and its delete policy leaves it; add "+policyBefore+", or delete it", "")
		return "", h.flush(ctx)
	}
	left, err := h.Delete(ctx, hk.GVK(), hk.Ref, string(m.UID))
	if err != nil && !kerrors.IsConflict(err) {
		return "", err
	}
	if left != nil {
		h.c.Cache().Put(hk.Ref, health.MetadataStateOf(left))
		return "waits until the one before is deleted", nil
	}
	return "", nil
}

// outcome of a hook: Current once it is done, Failed and why, or InProgress and what it does.
func (h *hookRunner) outcome(ctx context.Context, hk *hook) (cluster.Status, string, error) {
	gk := hk.Ref.GroupKind()
	if gk != health.JobKind && gk != health.PodKind && gk != object.CRDKind {
		return cluster.Current, "", nil
	}
	sum, exists, err := h.running(ctx, hk)
	switch {
	case err != nil:
		return "", "", err
	case !exists || sum.UID != h.run.UID:
		// As in Helm: somebody deleted it, who may well be the controller of Jobs, once it had finished.
		return cluster.Current, "", nil
	case gk == object.CRDKind && sum.Status != cluster.Current:
		// Helm does not wait, and fails now and then where the next hook is of that kind.
		return cluster.InProgress, "is not established", nil
	case gk == object.CRDKind, sum.Content == health.Succeeded:
		return cluster.Current, "", nil
	case sum.Content != "":
		return cluster.Failed, sum.Content, nil
	}
	return cluster.InProgress, "is running", nil
}

// seen is what is known of the object of a hook. That there is none is confirmed by a request.
func (h *hookRunner) seen(ctx context.Context, hk *hook) (cluster.ObjectState, bool, error) {
	if unsynced := h.track(ctx, []schema.GroupVersionKind{hk.GVK()}); len(unsynced) == 0 {
		if sum, ok := h.c.Cache().Get(hk.Ref); ok {
			return sum, true, nil
		}
	}
	return h.asked(ctx, hk)
}

// running is seen for the hook whose turn it is: the watch may be behind, and show the one before.
func (h *hookRunner) running(ctx context.Context, hk *hook) (cluster.ObjectState, bool, error) {
	sum, exists, err := h.seen(ctx, hk)
	if err != nil || !exists || sum.UID == h.run.UID {
		return sum, exists, err
	}
	return h.asked(ctx, hk)
}

// asked of the API server, what the object of a hook is like.
func (h *hookRunner) asked(ctx context.Context, hk *hook) (cluster.ObjectState, bool, error) {
	found := map[cluster.ObjectRef]cluster.ObjectState{}
	en := inventory.EntryOf(&hk.Desired)
	err := h.lookOne(ctx, &en, found)
	sum, ok := found[hk.Ref]
	return sum, ok, err
}

// tidy up once the hooks of the event ran, or one failed: those whose policy says so are deleted.
func (h *hookRunner) tidy(ctx context.Context) (string, error) {
	unwanted := h.disposable()
	if len(unwanted) > 0 {
		if h.run.Started == 0 {
			h.run.Started = h.e.now().Unix()
		}
		// What is deleted from here on must not be taken for what never ran.
		if err := h.flush(ctx); err != nil {
			return "", err
		}
	}
	for _, hk := range unwanted {
		left, err := h.discard(ctx, hk)
		if err != nil {
			return "", err
		}
		if left == "" || h.run.Failed != "" {
			// Nobody waits for what is deleted after a failure.
			continue
		}
		if waiting, err := h.patience(ctx, hk, left); err != nil || waiting != "" {
			return waiting, err
		}
	}
	h.run.Over = true
	return "", nil
}

// disposable are the hooks that are deleted after the event, in Helm's order.
func (h *hookRunner) disposable() []*hook {
	var out []*hook
	if h.run.Failed == "" {
		for i := range slices.Backward(h.hooks) {
			if h.hooks[i].deletedBy(policySucceeded) {
				out = append(out, &h.hooks[i])
			}
		}
		return out
	}
	for i := range h.hooks {
		failed := i == h.run.Index && h.hooks[i].deletedBy(policyFailed)
		if failed || i < h.run.Index && h.hooks[i].deletedBy(policySucceeded) {
			out = append(out, &h.hooks[i])
		}
	}
	return out
}

// discard the object of a hook, unless it is not ours. It returns what it waits for.
func (h *hookRunner) discard(ctx context.Context, hk *hook) (string, error) {
	sum, exists, err := h.seen(ctx, hk)
	if err != nil || !exists || sum.Set != h.id {
		return "", err
	}
	if sum.Status == cluster.Terminating {
		return cmp.Or(strings.TrimSpace(sum.Message), "is being deleted"), nil
	}
	left, err := h.Delete(ctx, hk.GVK(), hk.Ref, sum.UID)
	if kerrors.IsConflict(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if left == nil {
		h.c.Cache().Forget(hk.Ref)
		return "", nil
	}
	s := health.MetadataStateOf(left)
	h.c.Cache().Put(hk.Ref, s)
	return s.Message, nil
}
