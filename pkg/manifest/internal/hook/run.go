// SPDX-License-Identifier: Apache-2.0

package hook

import "github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"

// Resume returns a copy of the recorded run if it has the given inputs and can continue. It returns nil if a new run must begin.
func Resume(rec *inventory.Part, inputs inventory.Inputs, retry string) *inventory.Run {
	if !rec.Resumes(inputs, retry) {
		return nil
	}
	run := *rec.Run
	return &run
}

// Deletion returns the run for an event of a removal. It continues the recorded run if possible.
func Deletion(rec *inventory.Part, event inventory.Event, retry string) *inventory.Run {
	run := rec.Run
	switch {
	case run == nil || !run.Event.IsDeletion():
		out := inventory.NewRun(inventory.Run{Event: event, Retry: retry, Revision: rec.Revision})
		if run != nil && run.Recorded {
			// A release that was never deployed uses the revision whose hooks ran.
			out.Revision = max(out.Revision, run.Revision)
		}
		return out
	case run.Event == event && run.Failed != "" && run.Retry != retry:
		return inventory.NewRun(inventory.Run{Event: event, Retry: retry, Revision: run.Revision})
	}
	out := *run
	if event == inventory.PostDelete && out.Event == inventory.PreDelete {
		out.Next(event)
		out.Failed = ""
	}
	return &out
}

// A Standing is the progress of a run within an event. The message describes what a Due event is waiting for, or why a hook of a
// Refused event failed.
type Standing struct {
	Progress Progress
	Message  string
	// Failures contains the failures of deletion hooks that do not block the removal, each prefixed with its part.
	Failures []string
}

// Waits reports whether hooks must still run or complete.
func (s Standing) Waits() bool { return s.Progress == Due }

// standingOf returns the progress of a run within an event. For a Due event, the message does not describe what the event is
// waiting for.
func standingOf(run *inventory.Run, event inventory.Event) Standing {
	return Standing{Progress: ProgressOf(run, event), Message: run.Failed}
}

// A Progress describes how far a run is within an event.
type Progress string

// The values of Progress.
const (
	// Due means that hooks must still run or complete.
	Due Progress = "Due"
	// Passed means that the hooks have run, or that the removal has continued past the event.
	Passed Progress = "Passed"
	// Refused means that a hook failed.
	Refused Progress = "Refused"
)

// ProgressOf returns the progress of an event in a run.
func ProgressOf(run *inventory.Run, event inventory.Event) Progress {
	switch {
	case event == inventory.PreDelete && run.Event == inventory.PostDelete, run.Over && run.Failed == "":
		return Passed
	case run.Over:
		return Refused
	}
	return Due
}
