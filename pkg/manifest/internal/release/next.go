// SPDX-License-Identifier: Apache-2.0

package release

import (
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// A RevisionState says how far a revision has come when it is planned.
type RevisionState string

const (
	// Begins means that the revision is new.
	Begins RevisionState = "Begins"
	// Resumes means that the record of the revision exists, and its hooks go on.
	Resumes RevisionState = "Resumes"
	// Settled means that the record says that the revision is deployed, and only the inventory does not.
	Settled RevisionState = "Settled"
	// Repairs means that the inventory says that the revision is deployed, and its objects are to be as they were then.
	Repairs RevisionState = "Repairs"
)

// Next is the revision that a part is to have. The zero value stands for a part that has no release.
type Next struct {
	// Operation that makes the revision, which decides about the hooks that run.
	Operation hook.Operation
	// State of the revision.
	State RevisionState
	// Number of the revision, from 1.
	Number int
	// Before is the revision that was deployed before; 0 for none.
	Before int
	// Unsearched is true where the cluster was not searched for a release of that name, so that its record must be created, not
	// replaced. That there is one is rare, and its objects and its record would be in the way.
	Unsearched bool
	// Abandoned is where the release was to move before it is to be elsewhere; mostly none. Its records are to be deleted.
	Abandoned inventory.Release
	// BackTo is the revision that is restored by a rollback; 0 for none. BackManifest are its objects where the chart does not
	// render them again; empty to render the chart.
	BackTo       int
	BackManifest string
}

// IsUpgrade reports whether a revision was deployed before.
func (n *Next) IsUpgrade() bool { return n.Operation == hook.Upgrade || n.Operation == hook.Rollback }

// RunsHooks reports whether the hooks of the revision run. They do not for a revision that is deployed.
func (n *Next) RunsHooks() bool { return n.State == Begins || n.State == Resumes }
