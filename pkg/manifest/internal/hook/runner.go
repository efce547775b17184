// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A Runner runs the hooks of one event.
type Runner struct {
	// Target holds the objects. Pods provides the termination messages and logs of failed hooks.
	Target Target
	Pods   Pods
	// Set is the ID of the ApplySet. With Adopt, the Runner replaces objects that do not belong to it.
	Set   string
	Adopt bool
	// Messages tell users what to do about a failure.
	Messages advice.Messages
	// Now returns the time. Timeout applies to each hook.
	Now     func() time.Time
	Timeout time.Duration
	// Redact removes secrets from a text of the cluster. Nil changes nothing.
	Redact func(string) string

	Hooks []Hook
	// Run is updated in place. Saved is the run in the inventory.
	Run   *inventory.Run
	Saved inventory.Run
	// Save stores the run in the inventory immediately.
	Save func(ctx context.Context) error
	// Take is called with each object that became a hook and is no longer a member of the bundle. It may be nil.
	Take func(r cluster.ObjectRef)
}

// Advance continues the run as far as possible without waiting, and returns its progress.
func (r *Runner) Advance(ctx context.Context) (Standing, error) {
	f := facts{}
	for {
		act := next(r.Run, len(r.Hooks), f, isLate(r.Run, r.Timeout, r.Now()))
		switch act {
		case actDone:
			return standingOf(r.Run, r.Run.Event), nil
		case actWait:
			return Standing{Stage: Due, Message: r.about(r.turn(), f.message)}, nil
		case actDelete:
			return r.deleteAll(ctx)
		default:
		}
		var err error
		if f, err = r.do(ctx, act, f); err != nil {
			return Standing{}, err
		}
	}
}

// do executes an action on the current hook. It returns the facts for the next decision.
func (r *Runner) do(ctx context.Context, act action, f facts) (facts, error) {
	var err error
	switch act {
	case actStart:
		r.Run.Started = r.Now().Unix()
		err = r.Flush(ctx)
	case actCreate:
		f, err = r.create(ctx, r.turn())
		err = errors.Wrapf(err, "hook %s", r.Run.Event)
	case actLook:
		f, err = r.look(ctx, r.turn())
	case actSucceed:
		r.Run.Index++
		r.Run.Done++
		r.Run.UID, r.Run.Started, f = "", 0, facts{}
	case actFail:
		// Save before the object can be deleted: a hook whose object does not exist counts as done.
		err = r.fail(ctx, r.turn(), f.message, r.lastWords(ctx, r.turn()))
	case actExpire:
		err = r.expire(ctx, r.turn(), f.message)
	case actWait, actDelete, actDone:
	}
	return f, err
}

// Flush saves the run if it changed.
func (r *Runner) Flush(ctx context.Context) error {
	if !r.IsChanged() {
		return nil
	}
	if err := r.Save(ctx); err != nil {
		return err
	}
	r.Saved = *r.Run
	return nil
}

// IsChanged reports whether the run differs from the saved one.
func (r *Runner) IsChanged() bool { return *r.Run != r.Saved }

// turn returns the current hook.
func (r *Runner) turn() *Hook { return &r.Hooks[r.Run.Index] }

// about prefixes a message with the event and the object of a hook.
func (r *Runner) about(h *Hook, message string) string {
	return fmt.Sprintf("hook %s %s %s", r.Run.Event, h.Ref, message)
}

// fail marks the run as failed and saves it. The words are the last output of the hook; they may be empty.
func (r *Runner) fail(ctx context.Context, h *Hook, why, words string) error {
	failed := r.about(h, why)
	if words != "" {
		failed += ": " + words
	}
	r.Run.Failed = inventory.Bounded(failed, r.Redact)
	return r.Flush(ctx)
}

// expire fails the run because a hook exceeded its timeout.
func (r *Runner) expire(ctx context.Context, h *Hook, waiting string) error {
	return r.fail(ctx, h, fmt.Sprintf("was not done within %s: it %s", r.Timeout, waiting), r.lastWords(ctx, h))
}

// create creates the object of a hook, and deletes an object that blocks it. If the hook must wait, the facts say why. If the
// object cannot be created, the run has failed.
func (r *Runner) create(ctx context.Context, h *Hook) (facts, error) {
	for range 2 {
		uid, err := r.Target.Create(ctx, &h.Desired)
		if err == nil {
			r.take(h, uid)
			return facts{}, nil
		}
		if !kerrors.IsConflict(err) {
			return facts{}, errors.Wrap(ssa.Explain(err), h.Ref.String())
		}
		m, err := r.Target.Metadata(ctx, h.GVK(), h.Ref)
		if err != nil {
			return facts{}, err
		}
		if m == nil {
			continue
		}
		if m.Annotations[object.AnnotationHookRun] == h.Identity {
			// A previous process created it and stopped before saving the UID.
			r.take(h, string(m.UID))
			return facts{}, nil
		}
		do, message, err := replace(h, m, r.Set, r.Adopt, r.Messages)
		if err == nil && do == actDelete {
			do, message, err = r.makeRoom(ctx, h, string(m.UID))
		}
		switch {
		case err != nil:
			return facts{}, err
		case do == actWait:
			return facts{status: cluster.InProgress, message: message}, nil
		case do == actFail:
			return facts{}, r.fail(ctx, h, message, "")
		}
	}
	return facts{status: cluster.InProgress, message: "is being replaced"}, nil
}

// take records the UID of the object of the current hook.
func (r *Runner) take(h *Hook, uid string) {
	r.Run.UID = uid
	if r.Take != nil {
		r.Take(h.Ref)
	}
}

// makeRoom deletes the object that blocks a hook. It returns actCreate if the object is gone.
func (r *Runner) makeRoom(ctx context.Context, h *Hook, uid string) (action, string, error) {
	left, err := r.Target.Delete(ctx, &h.Desired, uid)
	switch {
	case err != nil && !kerrors.IsConflict(err):
		return "", "", err
	case left != nil:
		return actWait, waitsForDeletion, nil
	}
	return actCreate, "", nil
}

// look reads the object of a hook.
func (r *Runner) look(ctx context.Context, h *Hook) (facts, error) {
	gk := h.Ref.GroupKind()
	if !isAwaited(gk) {
		return facts{status: cluster.Current}, nil
	}
	s, exists, err := r.Target.State(ctx, &h.Desired, r.Run.UID)
	if err != nil {
		return facts{}, err
	}
	return outcome(gk, r.Run.UID, s, exists), nil
}

// deleteAll deletes the objects of hooks according to their policies, and ends the event unless it must wait for a deletion. After
// a failure it does not wait.
func (r *Runner) deleteAll(ctx context.Context) (Standing, error) {
	hooks := disposable(r.Run, r.Hooks)
	if len(hooks) > 0 {
		if r.Run.Started == 0 {
			r.Run.Started = r.Now().Unix()
		}
		// After this point, a hook with a deleted object must be distinguishable from one that never ran.
		if err := r.Flush(ctx); err != nil {
			return Standing{}, err
		}
	}
	for _, h := range hooks {
		why, remains, err := r.delete(ctx, h)
		if err != nil {
			return Standing{}, err
		}
		if !remains || r.Run.Failed != "" {
			continue
		}
		if outlast(isLate(r.Run, r.Timeout, r.Now())) == actWait {
			return Standing{Stage: Due, Message: r.about(h, why)}, nil
		}
		if err := r.expire(ctx, h, why); err != nil {
			return Standing{}, err
		}
	}
	r.Run.Over = true
	return standingOf(r.Run, r.Run.Event), nil
}

// delete deletes the object of a hook, unless it belongs to another bundle. It reports whether the object still exists, and why.
func (r *Runner) delete(ctx context.Context, h *Hook) (why string, remains bool, err error) {
	s, exists, err := r.Target.State(ctx, &h.Desired, "")
	if err != nil || !exists || s.Set != r.Set {
		return "", false, err
	}
	if s.Status == cluster.Terminating {
		return cmp.Or(strings.TrimSpace(s.Message), "is being deleted"), true, nil
	}
	left, err := r.Target.Delete(ctx, &h.Desired, s.UID)
	if err != nil || left == nil {
		if kerrors.IsConflict(err) {
			err = nil // A new object has the same name.
		}
		return "", false, err
	}
	return left.Message, true, nil
}
