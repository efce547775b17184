// SPDX-License-Identifier: Apache-2.0

package release

import "github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"

// A Kind says what a revision is, in the words of Helm. It decides which hooks run.
type Kind string

// Kinds of revisions.
const (
	// Install is the first revision that is deployed. As long as none was, each attempt is an install.
	Install Kind = "install"
	// Upgrade follows a revision that was deployed.
	Upgrade Kind = "upgrade"
	// Rollback follows a revision that was deployed, to go back to one before it.
	Rollback Kind = "rollback"
)

// A Progress says how far a revision has come when it is planned.
type Progress string

const (
	// Begins means that the revision is new.
	Begins Progress = "Begins"
	// Resumes means that the record of the revision exists, and its hooks go on.
	Resumes Progress = "Resumes"
	// Settled means that the record says that the revision is deployed, and only the inventory does not.
	Settled Progress = "Settled"
	// Repairs means that the inventory says that the revision is deployed, and its objects are to be as they were then.
	Repairs Progress = "Repairs"
)

// Next is the revision that a part is to have. The zero value stands for a part that has no release.
type Next struct {
	Kind     Kind
	Progress Progress
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
func (n *Next) IsUpgrade() bool { return n.Kind == Upgrade || n.Kind == Rollback }

// RunsHooks reports whether the hooks of the revision run. They do not for a revision that is deployed.
func (n *Next) RunsHooks() bool { return n.Progress == Begins || n.Progress == Resumes }
