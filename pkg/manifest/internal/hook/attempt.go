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

// An Effect is what the hooks of a part change in the inventory.
type Effect struct {
	// Record of the part, which has the run of its hooks.
	Record inventory.Part
	// Taken are the objects that became hooks. Those of them that no part has are no longer members of the bundle.
	Taken []cluster.ObjectRef
}

// Records are the revisions of a Helm release.
type Records interface {
	// RecordPending records that the revision is being installed.
	RecordPending(ctx context.Context) error

	// CutShort records that the revision of a run failed, because another one replaces it. The run may be nil.
	CutShort(ctx context.Context, run *inventory.Run) error

	// Describe sets the status and the description of a recorded revision. It reports whether the revision has a record.
	Describe(ctx context.Context, revision int, status, text string) (bool, error)
}

// An Attempt installs one revision of a chart that has hooks.
type Attempt struct {
	Operation Operation
	// Release is the name of the release.
	Release string
	// First is the run that begins where none continues. It needs no event.
	First inventory.Run
	// Note what the record of the part must say of the chart once a run begins; nil for nothing.
	Note func(p *inventory.Part)
	// Prepare returns the hooks of the event of a run.
	Prepare func(ctx context.Context, run *inventory.Run) ([]Hook, error)
	// Runner has what does not depend on the event.
	Runner  Runner
	Records Records
	// Save the inventory at once, with the effect so far.
	Save func(ctx context.Context, e Effect) error

	// Run is nil until RunPre was called.
	Run *inventory.Run
	// Effect begins with the record that the inventory has. It has to be kept also where the hooks have to wait, or failed.
	Effect Effect
}

// RunPre runs the hooks before the objects of the chart are applied, unless they ran. The objects may be applied once it does not wait.
// The error is why a hook failed, too.
func (a *Attempt) RunPre(ctx context.Context) (Standing, error) {
	if err := a.begin(ctx); err != nil {
		return Standing{}, err
	}
	if a.Run.Event.IsPost() {
		return Standing{Stage: Passed}, nil
	}
	s, err := a.advance(ctx, a.Operation.Pre())
	if err == nil && !s.Waits() {
		a.Run.Next(a.Operation.Post())
		a.note()
	}
	return s, err
}

// RunPost runs the hooks after the objects of the chart were applied. The revision is installed once it does not wait. The error is why
// a hook failed, too.
func (a *Attempt) RunPost(ctx context.Context) (Standing, error) {
	return a.advance(ctx, a.Run.Event)
}

// begin a run, or continue the one of the record.
func (a *Attempt) begin(ctx context.Context) error {
	rec := &a.Effect.Record
	if a.Run = Resume(rec, a.First.Inputs, a.First.Retry); a.Run != nil {
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

// note a copy of the run in the record of the part.
func (a *Attempt) note() {
	run := *a.Run
	a.Effect.Record.Run = &run
}

// save the run at once.
func (a *Attempt) save(ctx context.Context) error {
	a.note()
	return a.Save(ctx, a.Effect)
}

// advance the run of an event. The error is why a hook failed, once the record of the revision has it.
func (a *Attempt) advance(ctx context.Context, event inventory.Event) (Standing, error) {
	hooks, err := a.Prepare(ctx, a.Run)
	if err != nil {
		return Standing{}, err
	}
	r := a.Runner
	r.Hooks, r.Timeout, r.Run, r.Saved, r.Save = hooks, a.Effect.Record.HookTimeoutOf(), a.Run, *a.Run, a.save
	r.Take = func(ref cluster.ObjectRef) { a.Effect.Taken = append(a.Effect.Taken, ref) }
	over := a.Run.Over
	s, err := r.Advance(ctx)
	if r.IsChanged() {
		a.note()
	}
	if err != nil || s.Stage != Refused {
		return s, err
	}
	why := errors.New(s.Message)
	if over {
		return s, why
	}
	if _, err := a.Records.Describe(ctx, a.Run.Revision, record.StatusFailed, a.failure(event)); err != nil {
		// The event is over only once the record says so.
		a.Run.Over = false
		a.note()
		return Standing{}, errors.Wrap(err, s.Message)
	}
	return s, why
}

// failure returns the description of a revision of which a hook failed, in the words of Helm.
func (a *Attempt) failure(event inventory.Event) string {
	if a.Operation == Install {
		return fmt.Sprintf("Release %q failed %s: %s", a.Release, event, a.Run.Failed)
	}
	return fmt.Sprintf("Upgrade %q failed: %s hooks failed: %s", a.Release, event, a.Run.Failed)
}
