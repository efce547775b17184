// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// An action is the next step of a run.
type action string

const (
	// actStart saves that the current hook has started.
	actStart action = "Start"
	// actCreate creates the object of the current hook.
	actCreate action = "Create"
	// actLook reads that object.
	actLook action = "Look"
	// actWait ends the call. The next call continues.
	actWait action = "Wait"
	// actFail fails the run because the current hook failed.
	actFail action = "Fail"
	// actExpire fails the run because the current hook exceeded its timeout.
	actExpire action = "Expire"
	// actSucceed advances to the next hook.
	actSucceed action = "Succeed"
	// actDelete deletes the objects of hooks according to their policies, or the object that blocks the current hook.
	actDelete action = "Delete"
	// actDone ends the call because the event is over.
	actDone action = "Done"
)

// facts describes the object of the current hook. The zero value means that nothing is known.
type facts struct {
	// status is Current if the hook is done, Failed, or InProgress.
	status cluster.Status
	// message is the reason why the hook failed, or describes what it is waiting for.
	message string
}

// next returns the next action of a run. The arguments are the number of hooks of the event, the facts about the current hook,
// and whether that hook exceeded its timeout.
func next(run *inventory.Run, hooks int, f facts, late bool) action {
	switch {
	case run.Over:
		return actDone
	case run.Failed != "" || run.Index >= hooks:
		return actDelete
	case run.Started == 0:
		return actStart
	case f.status == cluster.Current:
		return actSucceed
	case f.status == cluster.Failed:
		return actFail
	case f.status != "":
		return outlast(late)
	case run.UID == "":
		return actCreate
	}
	return actLook
}

// outlast returns the action for a hook that is not done: wait, or expire if the hook is late.
func outlast(late bool) action {
	if late {
		return actExpire
	}
	return actWait
}

// isLate reports whether the current hook, or the deletion after the event, has exceeded its timeout. If the stopwatch has not measured the
// whole time, the rest is based on the system clock, which can have changed. Then the timeout begins again when the stopwatch began, but
// only once for each hook, so that a hook also exceeds its timeout if the stopwatch never knows it.
func (q *Sequence) isLate() bool {
	if q.Stopwatch == nil {
		q.Stopwatch = &Stopwatch{}
	}
	if q.Run.Started == 0 || q.Run.Failed != "" || q.Run.Over {
		return false
	}
	now := q.Now()
	if now.Before(time.Unix(q.Run.Started, 0)) && !q.Stopwatch.knows(q.Run) {
		// The clock was set back. The start must not stay in the future, because it would count again after each restart.
		q.Run.Started = now.Unix()
	}
	elapsed, measured := q.Stopwatch.Elapsed(q.Run, now)
	if elapsed < q.Timeout || measured >= q.Timeout || q.Run.Extended {
		return elapsed >= q.Timeout
	}
	q.Run.Started, q.Run.Extended = now.Add(-measured).Unix(), true
	return false
}

// isAwaited reports whether hooks of a kind complete after their creation. Hooks of other kinds are done as soon as they exist.
func isAwaited(gk schema.GroupKind) bool {
	return gk == health.JobKind || gk == health.PodKind || gk == object.CRDKind
}

// outcome returns the facts about a hook of an awaited kind. The UID is the UID of the object when it was created.
func outcome(gk schema.GroupKind, uid string, s cluster.ObjectState, exists bool) facts {
	switch {
	case !exists || s.UID != uid:
		// As in Helm, the hook is done: another client, for example the Job controller, deleted it after it completed.
		return facts{status: cluster.Current}
	case gk == object.CRDKind && s.Status != cluster.Current:
		// Unlike Helm, wait. Helm can fail if the next hook is a custom resource of this CRD.
		return facts{status: cluster.InProgress, message: "is not established"}
	case gk == object.CRDKind, s.Outcome == cluster.OutcomeSucceeded:
		return facts{status: cluster.Current}
	case s.Outcome == cluster.OutcomeFailed:
		return facts{status: cluster.Failed, message: s.Reason}
	}
	return facts{status: cluster.InProgress, message: "is running"}
}

// waitsForDeletion is the message of a hook that waits because an object with the same name is being deleted.
const waitsForDeletion = "is waiting for the previous object to be deleted"

// replace decides how to handle an object that blocks a hook: wait or fail with a message, or delete the object. It returns a
// *ssa.RefusedError if the object does not belong to the bundle and must not be replaced.
func replace(h *Hook, m *metav1.PartialObjectMetadata, set string, adopt bool, advise advice.Messages) (action, string, error) {
	foreign := m.Labels[object.LabelPartOf] != set
	switch {
	case foreign && !object.IsReplaceable(h.Ref.GroupKind()):
		return "", "", &ssa.RefusedError{Err: errors.Errorf("%s already exists and does not belong to this module; the "+
			"object is not replaced automatically, because its content would be lost: remove the hook, or delete the object manually", h.Ref)}
	case foreign && !adopt:
		return "", "", &ssa.RefusedError{Err: errors.Errorf("%s already exists and does not belong to this module; remove "+
			"the object, or %s", h.Ref, advise.Adopt)}
	case m.DeletionTimestamp != nil:
		return actWait, waitsForDeletion, nil
	case h.Ref.GroupKind() == object.CRDKind:
		return actFail, "already exists, and CRDs are never recreated; remove the CRD from the hooks", nil
	case !h.DeletedBy(BeforeCreation):
		return actFail, "already exists, because the delete policy keeps the object; add " + string(BeforeCreation) +
			" to the policy, or delete the object", nil
	}
	return actDelete, "", nil
}
