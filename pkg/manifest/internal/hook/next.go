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

// An action is what comes next in a run.
type action string

const (
	// actStart saves that the turn of a hook has come.
	actStart action = "Start"
	// actCreate creates the object of the hook whose turn it is.
	actCreate action = "Create"
	// actLook looks at that object.
	actLook action = "Look"
	// actWait ends the call. The next one continues.
	actWait action = "Wait"
	// actFail fails the run because of a hook.
	actFail action = "Fail"
	// actExpire fails the run because a hook was not done in time.
	actExpire action = "Expire"
	// actSucceed makes it the turn of the next hook.
	actSucceed action = "Succeed"
	// actDelete deletes the objects of hooks whose policy asks for it, or the object in the way of a hook.
	actDelete action = "Delete"
	// actDone ends the call, because the event is over.
	actDone action = "Done"
)

// facts are what is known of the object of the hook whose turn it is. The zero value says that nothing is.
type facts struct {
	// status is Current for a hook that is done, Failed, or InProgress.
	status cluster.Status
	// message is why the hook failed, or what it does.
	message string
}

// next returns what to do next in a run of a number of hooks, where late says that the time of the hook is over.
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

// outlast returns what to do about a hook that is not done.
func outlast(late bool) action {
	if late {
		return actExpire
	}
	return actWait
}

// isLate reports whether the time of the hook whose turn it is, or of the deletion after the event, is over.
func isLate(run *inventory.Run, timeout time.Duration, now time.Time) bool {
	return !now.Before(time.Unix(run.Started, 0).Add(timeout))
}

// isAwaited reports whether a hook of a kind is done later than it exists.
func isAwaited(gk schema.GroupKind) bool {
	return gk == health.JobKind || gk == health.PodKind || gk == object.CRDKind
}

// outcome returns the facts of a hook of an awaited kind whose object had a UID when it was created.
func outcome(gk schema.GroupKind, uid string, s cluster.ObjectState, exists bool) facts {
	switch {
	case !exists || s.UID != uid:
		// As in Helm: another client deleted it after it ended, for example the controller of Jobs.
		return facts{status: cluster.Current}
	case gk == object.CRDKind && s.Status != cluster.Current:
		// Helm does not wait, and sometimes fails where the next hook is of that kind.
		return facts{status: cluster.InProgress, message: "is not established"}
	case gk == object.CRDKind, s.Outcome == cluster.OutcomeSucceeded:
		return facts{status: cluster.Current}
	case s.Outcome == cluster.OutcomeFailed:
		return facts{status: cluster.Failed, message: s.Reason}
	}
	return facts{status: cluster.InProgress, message: "is running"}
}

// waitsForDeletion is the message of a hook that cannot be created before the object in its place is gone.
const waitsForDeletion = "waits until the one before is deleted"

// replace returns what to do about an object that is in the place of a hook: wait or fail with a message, or delete it. The
// error is a *ssa.RefusedError for an object that does not belong to the bundle and must not be replaced.
func replace(h *Hook, m *metav1.PartialObjectMetadata, set string, adopt bool, advise advice.Messages) (action, string, error) {
	foreign := m.Labels[object.LabelPartOf] != set
	switch {
	case foreign && !object.IsReplaceable(h.Ref.GroupKind()):
		return "", "", &ssa.RefusedError{Err: errors.Errorf("%s exists and does not belong to this module; it is not replaced, as what it "+
			"holds would be lost: take the hook out, or delete it yourself", h.Ref)}
	case foreign && !adopt:
		return "", "", &ssa.RefusedError{Err: errors.Errorf("%s exists and does not belong to this module; remove it, or %s to take it "+
			"over", h.Ref, advise.Adopt)}
	case m.DeletionTimestamp != nil:
		return actWait, waitsForDeletion, nil
	case h.Ref.GroupKind() == object.CRDKind:
		return actFail, "exists already, and a definition is never deleted to be made anew; take it out of the hooks", nil
	case !h.DeletedBy(BeforeCreation):
		return actFail, "exists already, and its delete policy leaves it; add " + string(BeforeCreation) + ", or delete it", nil
	}
	return actDelete, "", nil
}
