// SPDX-License-Identifier: Apache-2.0

package release

import (
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// A RevisionState is the progress of a revision when it is planned.
type RevisionState string

const (
	// Begins means that the revision is new.
	Begins RevisionState = "Begins"
	// Resumes means that the revision has a record and its hooks continue.
	Resumes RevisionState = "Resumes"
	// AlreadyDeployed means that the revision is deployed according to its record, but not according to the inventory.
	AlreadyDeployed RevisionState = "AlreadyDeployed"
	// Repairs means that the revision is deployed according to the inventory. Its objects must be restored to that state.
	Repairs RevisionState = "Repairs"
)

// Next describes the next revision of a part. The zero value means that the part has no release.
type Next struct {
	// Operation is the operation that creates the revision. It determines which hooks run.
	Operation hook.Operation
	// State is the progress of the revision.
	State RevisionState
	// Number is the number of the revision, starting at 1.
	Number int
	// Before is the previously deployed revision, or 0.
	Before int
	// Stale are other revisions that are recorded as deployed, because a call was interrupted before it marked them as superseded.
	Stale []int
	// Replaces is true if the revision replaces one whose hooks have begun, and which the inventory does not contain as deployed.
	Replaces bool
	// Unsearched is true if the cluster was not searched for an existing release. The record is then created and never replaced, so
	// that an unexpected release causes a conflict.
	Unsearched bool
	// Abandoned is the target of an interrupted move. Its records are deleted. It is usually zero.
	Abandoned inventory.Release
	// BackTo is the revision that a rollback restores, or 0. BackManifest contains its objects if the chart does not render them
	// again. Otherwise, it is empty and the chart is rendered.
	BackTo       int
	BackManifest string
}

// IsUpgrade reports whether a revision was deployed before.
func (n *Next) IsUpgrade() bool { return n.Operation == hook.Upgrade || n.Operation == hook.Rollback }

// RunsHooks reports whether the hooks of the revision run. They do not run for a deployed revision.
func (n *Next) RunsHooks() bool { return n.State == Begins || n.State == Resumes }
