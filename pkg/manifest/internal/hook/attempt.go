// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// An Effect contains the changes that the hooks of a part make in the inventory.
type Effect struct {
	// Record is the record of the part, including the run of its hooks.
	Record inventory.Part
	// Taken contains the objects that became hooks. Taken objects that no part contains are no longer members of the bundle.
	Taken []cluster.ObjectRef
}

// Records updates the revisions of a Helm release.
type Records interface {
	// RecordPending records that the installation of the revision has started.
	RecordPending(ctx context.Context) error

	// CutShort marks the revision of a run as failed because another revision replaces it. The run may be nil.
	CutShort(ctx context.Context, run *inventory.Run) error

	// Describe sets the status and the description of a recorded revision. It reports false if the revision has no record.
	Describe(ctx context.Context, revision int, status, text string) (bool, error)
}

// An Attempt runs the hooks of one revision of a chart.
type Attempt struct {
	Operation Operation
	// Release is the name of the release for descriptions.
	Release string
	// First is the run to begin if there is none to continue. The Attempt sets its Event.
	First inventory.Run
	// Random is true if the chart renders differently each time. Its objects are applied only after the run and its record are saved, so
	// that the next call applies the same objects.
	Random bool
	// Note updates the record of the part from the chart when a run begins. Nil changes nothing.
	Note func(p *inventory.Part)
	// Prepare returns the hooks of the event of a run.
	Prepare func(ctx context.Context, run *inventory.Run) ([]Hook, error)
	Runner  Runner
	Records Records
	// Save stores the inventory immediately, with the effect so far.
	Save func(ctx context.Context, e Effect) error

	// Run is nil until RunPre is called.
	Run *inventory.Run
	// Effect starts with the record in the inventory. Keep it even if the hooks must wait or have failed.
	Effect Effect
}

// RunPre runs the hooks that precede the objects of the chart, unless they have already run. Apply the objects once the result
// does not wait. If a hook failed, RunPre returns the reason as an error.
func (a *Attempt) RunPre(ctx context.Context) (Standing, error) {
	if err := a.begin(ctx); err != nil {
		return Standing{}, err
	}
	if a.Run.Event.IsPost() {
		return Standing{Progress: Passed}, nil
	}
	s, err := a.advance(ctx, a.Operation.Pre())
	if err == nil && !s.Waits() {
		a.Run.Next(a.Operation.Post())
		if a.Random && a.Run.Done == 0 {
			// No hook has saved that the revision is recorded.
			return s, a.save(ctx)
		}
		a.note()
	}
	return s, err
}

// RunPost runs the hooks that follow the objects of the chart. The revision is installed once the result does not wait. If a hook
// failed, RunPost returns the reason as an error.
func (a *Attempt) RunPost(ctx context.Context) (Standing, error) {
	return a.advance(ctx, a.Run.Event)
}

// begin starts a run, or continues the recorded run.
func (a *Attempt) begin(ctx context.Context) error {
	rec := &a.Effect.Record
	if a.Run = Resume(rec, a.First.Of(), a.First.Retry); a.Run != nil {
		return nil
	}
	if err := a.Records.CutShort(ctx, rec.Run); err != nil {
		return err
	}
	first := a.First
	first.Event = a.Operation.Pre()
	a.Run = inventory.NewRun(first)
	if a.Note != nil {
		a.Note(rec)
	}
	if err := a.save(ctx); err != nil {
		return err
	}
	if err := a.Records.RecordPending(ctx); err != nil {
		return err
	}
	a.Run.Recorded = true
	a.note()
	return nil
}

// note copies the run into the record of the part.
func (a *Attempt) note() {
	run := *a.Run
	a.Effect.Record.Run = &run
}

// save stores the run immediately.
func (a *Attempt) save(ctx context.Context) error {
	a.note()
	return a.Save(ctx, a.Effect)
}

// advance runs the hooks of an event. If a hook failed, it returns the reason as an error, after writing it to the record of the
// revision.
func (a *Attempt) advance(ctx context.Context, event inventory.Event) (Standing, error) {
	hooks, err := a.Prepare(ctx, a.Run)
	if err != nil {
		return Standing{}, err
	}
	q := Sequence{
		Runner: a.Runner, Hooks: hooks, Timeout: a.Effect.Record.HookTimeoutOf(), Run: a.Run, Saved: *a.Run, Save: a.save,
		Take: func(ref cluster.ObjectRef) { a.Effect.Taken = append(a.Effect.Taken, ref) },
	}
	over := a.Run.Over
	s, err := q.Advance(ctx)
	if q.IsChanged() {
		a.note()
	}
	if err != nil || s.Progress != Refused {
		return s, err
	}
	why := errors.New(s.Message)
	if over {
		return s, why
	}
	if _, err := a.Records.Describe(ctx, a.Run.Revision, record.StatusFailed, a.failure(event)); err != nil {
		// The event is over only after its failure is recorded.
		a.Run.Over = false
		a.note()
		return Standing{}, errors.Wrap(err, s.Message)
	}
	return s, why
}

// failure returns Helm's description of a revision with a failed hook.
func (a *Attempt) failure(event inventory.Event) string {
	if a.Operation == Install {
		return fmt.Sprintf("Release %q failed %s: %s", a.Release, event, a.Run.Failed)
	}
	return fmt.Sprintf("Upgrade %q failed: %s hooks failed: %s", a.Release, event, a.Run.Failed)
}
