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
}

// Decide what to install. Another digest than that of the status, and a new request to reconcile, end a rollback and
// begin an upgrade.
func Decide(in Input) Decision {
	switch {
	case in.Policy == nil:
		return Decision{Action: Install}
	case in.Checkpoint.Digest == "", in.Checkpoint.Digest == in.Desired.Digest:
		return Decision{Action: InstallAndKeep}
	case in.Status == nil, !in.Desired.continues(ParseDesired(in.Status.Desired)):
		return Decision{Action: InstallAndKeep, Status: begin(in)}
	case in.Status.RolledBack:
		return Decision{Action: BringBack, Status: in.Status.DeepCopy()}
	}
	return Decision{Action: InstallAndKeep, Status: in.Status.DeepCopy()}
}

// begin to watch an upgrade.
func begin(in Input) *v1alpha1.RollbackStatus {
	d := in.Desired
	if in.Policy.Atomic {
		d.Atomic = in.Policy.After
	}
	return &v1alpha1.RollbackStatus{Desired: d.String(), Since: stamp(in.Now), Version: in.Checkpoint.Version}
}

// An Observed is what was observed of an upgrade.
type Observed struct {
	// Ready says that the upgrade works.
	Ready bool
	// Failed says that it failed. An upgrade that is neither Ready nor Failed may still become Ready.
	Failed bool
	// Message says what is wrong, as the status may show it.
	Message string
}

// Evaluate an upgrade that is being watched, and return the next status: nil once the upgrade works, and RolledBack once
// its time is over. In any other state Evaluate returns the status as it is.
func Evaluate(st *v1alpha1.RollbackStatus, p Policy, o Observed, now time.Time) *v1alpha1.RollbackStatus {
	if StateOf(st) != Watching {
		return st
	}
	if o.Ready {
		return nil
	}
	out := st.DeepCopy()
	if !p.OnNotReady && !o.Failed {
		if st.Message != "" {
			// It failed, and recovered: the time counts without an interruption.
			out.Message, out.Since = "", stamp(now)
		}
		return out
	}
	out.Message = o.Message
	out.RolledBack = !now.Before(st.Since.Add(p.After))
	return out
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
		return fmt.Sprintf("rolled back to %s as the upgrade did not work: %s", st.Version, st.Message)
	}
	return fmt.Sprintf("rolled back to %s as %s did not work: %s", st.Version, from, st.Message)
}

// stamp returns a time as the API server stores it.
func stamp(t time.Time) metav1.Time { return metav1.NewTime(t.UTC()).Rfc3339Copy() }
