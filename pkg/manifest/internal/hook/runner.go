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

// A Runner contains the dependencies that all hooks of a call share.
type Runner struct {
	// Target stores the objects. Pods provides the termination messages and logs of failed hooks.
	Target Target
	Pods   Pods
	// Set is the ID of the ApplySet. With Adopt, objects that do not belong to it are replaced.
	Set   string
	Adopt bool
	// Messages contains the advice to users about a failure.
	Messages advice.Messages
	// Now returns the current time. Stopwatch measures how long hooks run, across calls.
	Now       func() time.Time
	Stopwatch *Stopwatch
	// Redact removes secrets from text that comes from the cluster. Nil changes nothing.
	Redact func(string) string
}

// A Sequence runs the hooks of one event.
type Sequence struct {
	Runner

	Hooks []Hook
	// Timeout limits each hook.
	Timeout time.Duration
	// Run is updated in place. Saved is the last saved run.
	Run   *inventory.Run
	Saved inventory.Run
	// Save stores the run in the inventory immediately.
	Save func(ctx context.Context) error
	// Take is called with each object that became a hook and is no longer a member of the bundle. It may be nil.
	Take func(r cluster.ObjectRef)
}

// Advance continues the run as far as possible without waiting, and returns its progress.
func (q *Sequence) Advance(ctx context.Context) (Standing, error) {
	f := facts{}
	for {
		act := next(q.Run, len(q.Hooks), f, q.isLate())
		switch act {
		case actDone:
			return standingOf(q.Run, q.Run.Event), nil
		case actWait:
			return Standing{Progress: Due, Message: q.about(q.current(), f.message)}, nil
		case actDelete:
			return q.deleteAll(ctx)
		default:
		}
		var err error
		if f, err = q.do(ctx, act, f); err != nil {
			return Standing{}, err
		}
	}
}

// do executes an action on the current hook. It returns the facts for the next decision.
func (q *Sequence) do(ctx context.Context, act action, f facts) (facts, error) {
	var err error
	switch act {
	case actStart:
		q.Run.Started = q.Now().Unix()
		err = q.Flush(ctx)
	case actCreate:
		f, err = q.create(ctx, q.current())
		err = errors.Wrapf(err, "hook %s", q.Run.Event)
	case actLook:
		f, err = q.look(ctx, q.current())
	case actSucceed:
		q.Run.Index++
		q.Run.Done++
		q.Run.UID, q.Run.Started, q.Run.Extended, f = "", 0, false, facts{}
	case actFail:
		// Save before the object can be deleted: a hook whose object does not exist counts as done.
		err = q.fail(ctx, q.current(), f.message, q.lastWords(ctx, q.current()))
	case actExpire:
		err = q.expire(ctx, q.current(), f.message)
	case actWait, actDelete, actDone:
	}
	return f, err
}

// Flush saves the run if it changed.
func (q *Sequence) Flush(ctx context.Context) error {
	if !q.IsChanged() {
		return nil
	}
	if err := q.Save(ctx); err != nil {
		return err
	}
	q.Saved = *q.Run
	return nil
}

// IsChanged reports whether the run differs from the last saved run.
func (q *Sequence) IsChanged() bool { return *q.Run != q.Saved }

// current returns the current hook.
func (q *Sequence) current() *Hook { return &q.Hooks[q.Run.Index] }

// about prefixes a message with the event and the object of a hook.
func (q *Sequence) about(h *Hook, message string) string {
	return fmt.Sprintf("hook %s %s %s", q.Run.Event, h.Ref, message)
}

// fail marks the run as failed and saves it. The parameter words is the last output of the hook, or empty.
func (q *Sequence) fail(ctx context.Context, h *Hook, why, words string) error {
	failed := q.about(h, why)
	if words != "" {
		failed += ": " + words
	}
	q.Run.Failed = inventory.Bounded(failed, q.Redact)
	return q.Flush(ctx)
}

// expire fails the run because a hook exceeded its timeout.
func (q *Sequence) expire(ctx context.Context, h *Hook, waiting string) error {
	return q.fail(ctx, h, fmt.Sprintf("did not finish within %s: the hook %s", q.Timeout, waiting), q.lastWords(ctx, h))
}

// create creates the object of a hook, and deletes an object that blocks it. If the hook must wait, the message of the facts is
// the reason. If a blocking object makes the hook fail, create marks the run as failed.
func (q *Sequence) create(ctx context.Context, h *Hook) (facts, error) {
	for range 2 {
		uid, err := q.Target.Create(ctx, &h.Desired)
		if err == nil {
			q.take(h, uid)
			return facts{}, nil
		}
		if !kerrors.IsConflict(err) {
			return facts{}, errors.Wrap(ssa.Explain(err), h.Ref.String())
		}
		m, err := q.Target.Metadata(ctx, h.GVK(), h.Ref)
		if err != nil {
			return facts{}, err
		}
		if m == nil {
			continue
		}
		if m.Annotations[object.AnnotationHookRun] == h.Identity {
			// A previous process created it and stopped before saving the UID.
			q.take(h, string(m.UID))
			return facts{}, nil
		}
		do, message, err := replace(h, m, q.Set, q.Adopt, q.Messages)
		if err == nil && do == actDelete {
			do, message, err = q.makeRoom(ctx, h, string(m.UID))
		}
		switch {
		case err != nil:
			return facts{}, err
		case do == actWait:
			return facts{status: cluster.InProgress, message: message}, nil
		case do == actFail:
			return facts{}, q.fail(ctx, h, message, "")
		}
	}
	return facts{status: cluster.InProgress, message: "is being replaced"}, nil
}

// take records the UID of the object of the current hook, and passes the object to Take.
func (q *Sequence) take(h *Hook, uid string) {
	q.Run.UID = uid
	if q.Take != nil {
		q.Take(h.Ref)
	}
}

// makeRoom deletes the object that blocks a hook. It returns actCreate if the object is gone, and otherwise actWait with a
// message.
func (q *Sequence) makeRoom(ctx context.Context, h *Hook, uid string) (action, string, error) {
	left, err := q.Target.Delete(ctx, &h.Desired, uid)
	switch {
	case err != nil && !kerrors.IsConflict(err):
		return "", "", err
	case left != nil:
		return actWait, waitsForDeletion, nil
	}
	return actCreate, "", nil
}

// look reads the object of a hook and returns the facts about it.
func (q *Sequence) look(ctx context.Context, h *Hook) (facts, error) {
	gk := h.Ref.GroupKind()
	if !isAwaited(gk) {
		return facts{status: cluster.Current}, nil
	}
	s, exists, err := q.Target.State(ctx, &h.Desired, q.Run.UID)
	if err != nil {
		return facts{}, err
	}
	return outcome(gk, q.Run.UID, s, exists), nil
}

// deleteAll deletes the objects of hooks according to their policies, and ends the event unless it must wait for a deletion.
// After a failure, it does not wait.
func (q *Sequence) deleteAll(ctx context.Context) (Standing, error) {
	hooks := disposable(q.Run, q.Hooks)
	if len(hooks) > 0 {
		if q.Run.Started == 0 {
			q.Run.Started = q.Now().Unix()
		}
		// After this point, a hook with a deleted object must be distinguishable from one that never ran.
		if err := q.Flush(ctx); err != nil {
			return Standing{}, err
		}
	}
	for _, h := range hooks {
		why, remains, err := q.delete(ctx, h)
		if err != nil {
			return Standing{}, err
		}
		if !remains || q.Run.Failed != "" {
			continue
		}
		if outlast(q.isLate()) == actWait {
			return Standing{Progress: Due, Message: q.about(h, why)}, nil
		}
		if err := q.expire(ctx, h, why); err != nil {
			return Standing{}, err
		}
	}
	q.Run.Over = true
	return standingOf(q.Run, q.Run.Event), nil
}

// delete deletes the object of a hook, unless it belongs to another bundle. It reports whether the object still exists, and the
// reason.
func (q *Sequence) delete(ctx context.Context, h *Hook) (why string, remains bool, err error) {
	s, exists, err := q.Target.State(ctx, &h.Desired, "")
	if err != nil || !exists || s.Set != q.Set {
		return "", false, err
	}
	if s.Status == cluster.Terminating {
		return cmp.Or(strings.TrimSpace(s.Message), "is being deleted"), true, nil
	}
	left, err := q.Target.Delete(ctx, &h.Desired, s.UID)
	if err != nil || left == nil {
		if kerrors.IsConflict(err) {
			err = nil // A new object has the same name.
		}
		return "", false, err
	}
	return left.Message, true, nil
}
