// SPDX-License-Identifier: Apache-2.0

package hook

import "github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"

// Resume returns a copy of the run of hooks of an install that is for these inputs and goes on; nil where a new one has to begin.
func Resume(rec *inventory.Part, inputs, retry string) *inventory.Run {
	if !rec.Resumes(inputs, retry) {
		return nil
	}
	run := *rec.Run
	return &run
}

// Deletion returns the run of an event of a removal: the one of the record if it goes on, else a new one.
func Deletion(rec *inventory.Part, event inventory.Event, retry string) *inventory.Run {
	run := rec.Run
	switch {
	case run == nil || !run.Event.IsDeletion():
		out := inventory.NewRun(inventory.Run{Event: event, Retry: retry, Revision: rec.Revision})
		if run != nil && run.Recorded {
			// A release that never was deployed has the revision whose hooks ran.
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

// A Standing is how far a run of hooks has come with an event, and why. The message is what a Due event waits for, or why a hook of a
// Refused one failed.
type Standing struct {
	Stage   Stage
	Message string
	// Failures of hooks of a removal that keep nothing from being deleted, each with the name of its part.
	Failures []string
}

// Waits reports whether hooks have to run, or run.
func (s Standing) Waits() bool { return s.Stage == Due }

// standingOf returns how far a run has come with an event. It does not know what a Due one waits for.
func standingOf(run *inventory.Run, event inventory.Event) Standing {
	return Standing{Stage: StageOf(run, event), Message: run.Failed}
}

// A Stage is how far a run of hooks has come with an event.
type Stage string

// The stages of an event.
const (
	// Due is an event whose hooks have to run, or run.
	Due Stage = "Due"
	// Passed is an event whose hooks ran, or that a removal has left behind.
	Passed Stage = "Passed"
	// Refused is an event of which a hook failed.
	Refused Stage = "Refused"
)

// StageOf returns how far a run has come with an event.
func StageOf(run *inventory.Run, event inventory.Event) Stage {
	switch {
	case event == inventory.PreDelete && run.Event == inventory.PostDelete, run.Over && run.Failed == "":
		return Passed
	case run.Over:
		return Refused
	}
	return Due
}
