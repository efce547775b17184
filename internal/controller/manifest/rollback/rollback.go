// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// A State of the machine.
type State string

// The states. A RollbackStatus has the state; see StateOf.
const (
	// None: what is desired was Ready last, nothing was Ready before, or no rollback is asked for.
	None State = "None"
	// Watching: something else than what was Ready last is desired, and gets its time to become Ready.
	Watching State = "Watching"
	// RolledBack: what is desired did not work, and what was Ready last replaces it.
	RolledBack State = "RolledBack"
)

// StateOf returns the state that a status has; nil is None.
func StateOf(st *v1alpha1.RollbackStatus) State {
	switch {
	case st == nil:
		return None
	case st.RolledBack:
		return RolledBack
	}
	return Watching
}

// An Action is what a pass installs.
type Action string

// The actions.
const (
	// Install what is desired, and keep no checkpoint of it.
	Install Action = "Install"
	// InstallAndKeep installs what is desired, and keeps a checkpoint of it once it is Ready.
	InstallAndKeep Action = "InstallAndKeep"
	// BringBack the checkpoint instead of what is desired.
	BringBack Action = "BringBack"
)

// A Checkpoint identifies what was Ready last, and is kept in the target cluster.
type Checkpoint struct {
	// Digest of the checkpoint; empty if none is kept.
	Digest string
	// Version as far as the checkpoint names one.
	Version string
}

// An Input is all that Decide needs.
type Input struct {
	// Status is what an earlier pass wrote; nil for none.
	Status *v1alpha1.RollbackStatus
	// Desired is what the resource asks for.
	Desired Desired
	// Policy is nil if no rollback is asked for.
	Policy *Policy
	// Checkpoint that the target cluster keeps.
	Checkpoint Checkpoint
	// Now is the time of the pass.
	Now time.Time
}

// A Decision is what to install, and the status to report. The status is a copy.
type Decision struct {
	Action Action
	Status *v1alpha1.RollbackStatus
	// Policy that the decision follows; nil if no rollback is asked for.
	Policy *Policy
}

// Decide what to install. Another digest than that of the status, and a new request to reconcile, end a rollback and
// begin an upgrade.
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

// begin to watch an upgrade.
func begin(in Input) *v1alpha1.RollbackStatus {
	d := in.Desired
	if in.Policy.Atomic {
		d.Atomic = in.Policy.After
	}
	return &v1alpha1.RollbackStatus{Desired: d.String(), Since: stamp(in.Now), Version: in.Checkpoint.Version}
}

// An Outcome is how what was decided goes.
type Outcome string

// The outcomes.
const (
	// Pending: what was decided is not applied yet, or was applied just now, so nothing is known about it.
	Pending Outcome = "Pending"
	// Ready: it works.
	Ready Outcome = "Ready"
	// NotReady: it does not work, and may still become Ready.
	NotReady Outcome = "NotReady"
	// Failed: it failed.
	Failed Outcome = "Failed"
)

// An Observed is what was observed after a decision.
type Observed struct {
	Outcome Outcome
	// Message says what is wrong, as the status may show it.
	Message string
	// Version that is installed, where it is what was decided; empty if that is unknown.
	Version string
}

// Evaluate an observation, and return the next status, and whether a rollback begins with it. The status of an upgrade that is
// being watched is nil once the upgrade works, and RolledBack once its time is over. The status of a checkpoint that is brought
// back gets the version where the checkpoint names none.
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
			// It failed, and recovered: the time counts without an interruption.
			next.Message, next.Since = "", stamp(now)
		}
		return next, false
	}
	next.Message = o.Message
	next.RolledBack = !now.Before(next.Since.Add(d.Policy.After))
	return next, next.RolledBack
}

// Deadline returns when the time of an upgrade is over; zero if nothing is being watched.
func Deadline(st *v1alpha1.RollbackStatus, p *Policy) time.Time {
	if StateOf(st) != Watching || p == nil {
		return time.Time{}
	}
	return st.Since.Add(p.After)
}

// Text says what a rollback replaces by what, and why. From is the version that is desired; both versions may be unknown.
func Text(st *v1alpha1.RollbackStatus, from string) string {
	switch {
	case st.Version == "" || st.Version == from:
		return "rolled back to the last good state as the change did not work: " + st.Message
	case from == "":
		return fmt.Sprintf("rolled back to %s because the upgrade failed: %s", st.Version, st.Message)
	}
	return fmt.Sprintf("rolled back to %s as %s did not work: %s", st.Version, from, st.Message)
}

// stamp returns a time as the API server stores it.
func stamp(t time.Time) metav1.Time { return metav1.NewTime(t.UTC()).Rfc3339Copy() }
