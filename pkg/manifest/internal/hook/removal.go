// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// RemovalHooks runs the deletion hooks of the parts that are being removed.
type RemovalHooks struct {
	// Parts contains the parts to remove, in install order. Their hooks run in reverse order.
	Parts []object.PartID
	// Records contains the records of the parts. Run updates their hook runs.
	Records map[object.PartID]inventory.Part
	// Retry is the token that requests another attempt. With Force, a failed hook does not block the removal.
	Retry string
	Force bool
	// Prepare returns the hooks of the event of a run, and the release record that contains them. It returns no hooks if the record
	// does not exist. Like helm uninstall, it does not use the chart, which may be unreachable.
	Prepare func(ctx context.Context, part object.PartID, r inventory.Release, run *inventory.Run) ([]Hook, *record.Info, error)
	// Describe sets the status and the description of a recorded revision. It reports false if the revision has no record.
	Describe func(ctx context.Context, r inventory.Release, revision int, status, text string) (bool, error)
	Runner   Runner
	// Save stores the inventory immediately, with the record of a part.
	Save func(ctx context.Context, part object.PartID, rec inventory.Part) error
}

// Run runs the hooks of an event for all parts, as far as possible without waiting.
func (r *RemovalHooks) Run(ctx context.Context, event inventory.Event) (Standing, error) {
	var failures []string
	for _, part := range slices.Backward(r.Parts) {
		p := r.Records[part]
		if !p.DeleteHooks {
			continue
		}
		s, err := r.runPart(ctx, part, &p, event)
		if err = errors.Wrap(err, part.String()); err != nil {
			if !r.passesOver(err, event) {
				return Standing{Failures: failures}, err
			}
			failures = append(failures, text.OneLine(err.Error()))
			continue
		}
		if s.Progress == Passed {
			continue
		}
		s.Message = part.String() + ": " + s.Message
		if s.Progress != Refused || (event.Blocks() && !r.Force) {
			s.Failures = failures
			return s, nil
		}
		failures = append(failures, s.Message)
	}
	return Standing{Progress: Passed, Failures: failures}, nil
}

// passesOver reports whether a removal continues after an error. The hooks of a release record cannot be edited, so a hook that
// would replace an object of another part is skipped as if it had failed.
func (r *RemovalHooks) passesOver(err error, event inventory.Event) bool {
	return r.Force && ssa.IsRefused(err) || isTaken(err) && !event.Blocks()
}

// runPart runs the hooks of an event for one part.
func (r *RemovalHooks) runPart(ctx context.Context, part object.PartID, p *inventory.Part, event inventory.Event) (Standing, error) {
	run := Deletion(p, event, r.Retry)
	if s := standingOf(run, event); !s.Waits() {
		return s, nil
	}
	hooks, err := r.prepare(ctx, part, p.ReleaseOf(part), run)
	if err != nil || len(hooks) == 0 {
		return Standing{Progress: Passed}, err
	}
	return r.advance(ctx, part, p, run, hooks)
}

// prepare returns the hooks of the event of a run. Before the first hook runs, it sets the status of the release to uninstalling.
func (r *RemovalHooks) prepare(ctx context.Context, part object.PartID, rel inventory.Release, run *inventory.Run) ([]Hook, error) {
	hooks, info, err := r.Prepare(ctx, part, rel, run)
	if err != nil || len(hooks) == 0 || run.Event != inventory.PreDelete || info.Status == record.StatusUninstalling {
		return hooks, err
	}
	_, err = r.Describe(ctx, rel, run.Revision, record.StatusUninstalling, "Deletion in progress (or silently failed)")
	return hooks, err
}

// advance runs the hooks of a part and saves the run.
func (r *RemovalHooks) advance(ctx context.Context, part object.PartID, p *inventory.Part, run *inventory.Run, hooks []Hook) (Standing, error) {
	q := Sequence{Runner: r.Runner, Hooks: hooks, Timeout: p.HookTimeoutOf(), Run: run}
	if p.Run != nil {
		q.Saved = *p.Run
	}
	q.Save = func(ctx context.Context) error {
		rec, copied := r.Records[part], *run
		// If the part is added again before it is gone, install a new revision.
		rec.Run = &copied
		rec.Invalidate()
		r.Records[part] = rec
		return r.Save(ctx, part, rec)
	}
	s, err := q.Advance(ctx)
	if err == nil {
		err = q.Flush(ctx)
	}
	return s, err
}
