// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// A RevisionRecorder writes the records of a revision while its hooks run.
type RevisionRecorder struct {
	History      History
	Installation *NewRevision
}

// RecordPending records that the installation of the revision has started.
func (a RevisionRecorder) RecordPending(ctx context.Context) error {
	return a.History.WritePending(ctx, a.Installation)
}

// CutShort marks the revision of a run as failed because this revision replaces it. The run may be nil.
func (a RevisionRecorder) CutShort(ctx context.Context, run *inventory.Run) error {
	return a.History.CutShort(ctx, a.Installation.Desired.Release, run)
}

// Describe sets the status and the description of a recorded revision. It reports false if the revision has no record.
func (a RevisionRecorder) Describe(ctx context.Context, revision int, status, description string) (bool, error) {
	return a.History.Describe(ctx, a.Installation.Desired.Release, revision, status, description)
}
