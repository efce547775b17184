// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"maps"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// hooks prepares the hooks of the installs of a bundle. The hooks come from charts or from release records.
type hooks struct {
	composer *compose.Composer
	history  release.History
	// runner is the template for the runner of each event. It contains no hooks.
	runner hook.Runner
	// retry and force are the options Retry and ForceRemoval of the call.
	retry string
	force bool
}

// prepare returns the hooks for the event of a run, ready to be applied.
func (h *hooks) prepare(
	ctx context.Context, all []record.Hook, part object.PartID, in *compose.Installation, run *inventory.Run, owner hook.Owner,
) ([]hook.Hook, error) {
	build := func(ctx context.Context, one *record.Hook, identity string) (object.Desired, error) {
		return h.composer.BuildHook(ctx, in, part, one, identity)
	}
	return hook.Prepare(ctx, all, h.runner.Set, part, run, owner, build)
}

// prepareRecorded returns the hooks for the event of a run from the record of a release, and that record. Both are nil if the
// record does not exist.
func (h *hooks) prepareRecorded(
	ctx context.Context, part object.PartID, r inventory.Release, run *inventory.Run, owner hook.Owner,
) ([]hook.Hook, *record.Info, error) {
	info, err := h.history.Get(ctx, r, run.Revision)
	if err != nil || info == nil {
		return nil, nil, err
	}
	prepared, err := h.prepare(ctx, info.Hooks(), part, &compose.Installation{Namespace: r.Namespace}, run, owner)
	return prepared, info, err
}

// A saveRecord saves the inventory with the record of a part.
type saveRecord func(ctx context.Context, part object.PartID, rec inventory.Part) error

// ofRemoved returns the deletion hooks of parts that are being removed. It copies records, which maps each part to its record in
// the inventory. The owner is nil if all parts are being removed.
func (h *hooks) ofRemoved(
	records map[object.PartID]inventory.Part, parts []object.PartID, owner hook.Owner, save saveRecord,
) *hook.RemovalHooks {
	return &hook.RemovalHooks{
		Records: maps.Clone(records), Parts: parts, Retry: h.retry, Force: h.force, Describe: h.history.Describe, Runner: h.runner, Save: save,
		Prepare: func(ctx context.Context, part object.PartID, r inventory.Release, run *inventory.Run) ([]hook.Hook, *record.Info, error) {
			return h.prepareRecorded(ctx, part, r, run, owner)
		},
	}
}
