// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A State is a state of the state machine.
type State string

// These are the states. A RollbackStatus determines the state, see StateOf.
const (
	// None means that the desired content was Ready last, that nothing was Ready before, or that no rollback is requested.
	None State = "None"
	// Watching means that the desired content differs from what was Ready last, and has time to become Ready.
	Watching State = "Watching"
	// RolledBack means that the desired content did not work, and is replaced by what was Ready last.
	RolledBack State = "RolledBack"
)

// StateOf returns the state of a status. The state of a nil status is None.
func StateOf(st *v1alpha1.RollbackStatus) State {
	switch {
	case st == nil:
		return None
	case st.RolledBack:
		return RolledBack
	}
	return Watching
}

// An Action determines what a pass installs.
type Action string

// These are the actions.
const (
	// Install installs the desired content, and keeps no checkpoint of it.
	Install Action = "Install"
	// InstallAndKeep installs the desired content, and keeps a checkpoint of it once it is Ready.
	InstallAndKeep Action = "InstallAndKeep"
	// BringBack installs the checkpoint instead of the desired content.
	BringBack Action = "BringBack"
)

// A Checkpoint identifies what was Ready last. It is kept in the target cluster.
type Checkpoint struct {
	// Digest is the digest of the checkpoint; empty if none is kept.
	Digest string
	// Version is the version of the checkpoint; empty if it names none.
	Version string
}

// An Input contains all inputs of Decide.
type Input struct {
	// Status is the status that an earlier pass wrote, or nil.
	Status *v1alpha1.RollbackStatus
	// Desired identifies what the resource requests.
	Desired Desired
	// Policy is nil if no rollback is requested.
	Policy *Policy
	// Checkpoint is the checkpoint in the target cluster.
	Checkpoint Checkpoint
	// Now is the time of the pass.
	Now time.Time
}

// A Decision contains the action of a pass, and the status to report. The status is a copy.
type Decision struct {
	Action Action
	Status *v1alpha1.RollbackStatus
	// Policy is the policy of the decision, or nil if no rollback is requested.
	Policy *Policy
}

// Decide decides what to install. A digest that differs from the status, or a new request to reconcile, ends a rollback and
// begins an upgrade.
func Decide(in Input) Decision {
	out := Decision{Action: InstallAndKeep, Policy: in.Policy}
	switch {
	case in.Policy == nil:
		out.Action = Install
	case in.Checkpoint.Digest == "", in.Checkpoint.Digest == in.Desired.Digest:
	case in.Status == nil, !in.Desired.continues(ParseDesired(in.Status.Desired)):
		out.Status = begin(in)
	default:
		out.Status = in.Status.DeepCopy()
		if in.Status.RolledBack {
			out.Action = BringBack
		}
	}
	return out
}

// begin returns the status of an upgrade that begins to be watched.
func begin(in Input) *v1alpha1.RollbackStatus {
	d := in.Desired
	if in.Policy.Atomic {
		d.Atomic = in.Policy.After
	}
	return &v1alpha1.RollbackStatus{Desired: d.String(), Since: stamp(in.Now), Version: in.Checkpoint.Version}
}

// An Outcome is the outcome of a decision.
type Outcome string

// These are the outcomes.
const (
	// Pending means that the decision is not applied yet, or was just applied, so its result is unknown.
	Pending Outcome = "Pending"
	// Ready means that the installed content works.
	Ready Outcome = "Ready"
	// NotReady means that the installed content does not work, and may still become Ready.
	NotReady Outcome = "NotReady"
	// Failed means that the installed content failed.
	Failed Outcome = "Failed"
)

// An Observed contains what was observed after a decision.
type Observed struct {
	Outcome Outcome
	// Message describes the problem, and can be shown in the status.
	Message string
	// Version is the installed version if it is the one that was decided, or empty if it is unknown.
	Version string
}

// Evaluate evaluates an observation. It returns the next status, and whether a rollback begins with it. The status of an
// upgrade that is being watched becomes nil once the upgrade works, and RolledBack once its time is over. The status of a
// checkpoint that is brought back gets the observed version if the checkpoint names none.
func Evaluate(d Decision, o Observed, now time.Time) (next *v1alpha1.RollbackStatus, begins bool) {
	switch {
	case d.Action == BringBack && d.Status.Version == "":
		next = d.Status.DeepCopy()
		next.Version = o.Version
		return next, false
	case d.Policy == nil, StateOf(d.Status) != Watching, o.Outcome == Pending:
		return d.Status, false
	case o.Outcome == Ready:
		return nil, false
	}
	next = d.Status.DeepCopy()
	if !d.Policy.OnNotReady && o.Outcome != Failed {
		if next.Message != "" {
			// The upgrade failed and recovered. The time starts again, because it must be uninterrupted.
			next.Message, next.Since = "", stamp(now)
		}
		return next, false
	}
	next.Message = o.Message
	next.RolledBack = !now.Before(next.Since.Add(d.Policy.After))
	return next, next.RolledBack
}

// Deadline returns the time at which an upgrade is rolled back, or zero if no upgrade is being watched.
func Deadline(st *v1alpha1.RollbackStatus, p *Policy) time.Time {
	if StateOf(st) != Watching || p == nil {
		return time.Time{}
	}
	return st.Since.Add(p.After)
}

// Text returns a message that says which version a rollback replaces with which version, and why. from is the desired
// version. Both versions may be unknown.
func Text(st *v1alpha1.RollbackStatus, from string) string {
	switch {
	case st.Version == "" || st.Version == from:
		return "rolled back to the last known good revision because the change failed: " + st.Message
	case from == "":
		return fmt.Sprintf("rolled back to %s because the upgrade failed: %s", st.Version, st.Message)
	}
	return fmt.Sprintf("rolled back to %s because the upgrade to %s failed: %s", st.Version, from, st.Message)
}

// stamp returns a time in the precision in which the API server stores it.
func stamp(t time.Time) metav1.Time { return metav1.NewTime(t.UTC()).Rfc3339Copy() }
