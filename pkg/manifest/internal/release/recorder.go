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
func (r RevisionRecorder) RecordPending(ctx context.Context) error {
	return r.History.WritePending(ctx, r.Installation)
}

// CutShort marks the revision of a run as failed because this revision replaces it. The run may be nil.
func (r RevisionRecorder) CutShort(ctx context.Context, run *inventory.Run) error {
	return r.History.CutShort(ctx, r.Installation, run)
}

// Describe sets the status and the description of a recorded revision. It reports false if the revision has no record.
func (r RevisionRecorder) Describe(ctx context.Context, revision int, status, description string) (bool, error) {
	return r.History.Describe(ctx, r.Installation.Desired.Release, revision, status, description)
}
