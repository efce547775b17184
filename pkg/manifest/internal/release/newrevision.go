// SPDX-License-Identifier: Apache-2.0

package release

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
)

// A NewRevision is a revision that is being installed, with the contents of its record.
type NewRevision struct {
	// Desired describes the release. Next is its revision to install.
	Desired Wanted
	Next    Next
	// Rendered is the result of rendering the Chart.
	Chart    *render.Chart
	Rendered *render.Rendered
	// Description and Labels are from the config of the install. Empty values mean the defaults.
	Description string
	Labels      map[string]string
	// CreateNamespace is true if a missing namespace of the release must be created.
	CreateNamespace bool
	// OwnNamespace is true if the bundle also contains the namespace of the release. It is then created only as that object.
	OwnNamespace bool
	// Run is the run of the hooks of the revision, or nil.
	Run *inventory.Run
	// Now is the time of the installation.
	Now time.Time
}

// hasRecord reports whether the revision has a pending record.
func (n *NewRevision) hasRecord() bool { return n.Run != nil && n.Run.Recorded }

// keepsRecord reports whether the objects and hooks of the revision come from its record, so that only the status of the record can change.
func (n *NewRevision) keepsRecord() bool {
	return n.hasRecord() || n.Next.State == AlreadyDeployed && !n.Rendered.Pure
}

// record returns the record of the deployed revision for an ApplySet. First is the time at which the first revision of the
// release was deployed.
func (n *NewRevision) record(set string, first time.Time) record.Options {
	o := record.Options{
		Revision: n.Next.Number, Status: record.StatusDeployed, Description: n.complete(),
		FirstDeployed: first, LastDeployed: n.Now, Manifest: n.Next.BackManifest,
		Labels: map[string]string{},
	}
	maps.Copy(o.Labels, n.Labels)
	o.Labels[LabelSet], o.Labels[LabelInputs] = set, n.Desired.Inputs.Digest
	if n.Desired.Inputs.Content != "" {
		o.Labels[LabelContent] = n.Desired.Inputs.Content
	}
	return o
}

// complete returns the description of the deployed revision. The default is Helm's description.
func (n *NewRevision) complete() string {
	if n.Next.BackTo > 0 {
		return fmt.Sprintf("Rollback to %d", n.Next.BackTo)
	}
	if n.Next.IsUpgrade() {
		return cmp.Or(n.Description, "Upgrade complete")
	}
	return cmp.Or(n.Description, "Install complete")
}

// pending returns the record of the revision while its hooks run.
func (n *NewRevision) pending(set string, first time.Time) record.Options {
	o := n.record(set, first)
	switch n.Next.Operation {
	case hook.Install:
		o.Status, o.Description = record.StatusPendingInstall, "Initial install underway"
	case hook.Rollback:
		o.Status, o.Description = record.StatusPendingRollback, "Preparing rollback"
	case hook.Upgrade:
		o.Status, o.Description = record.StatusPendingUpgrade, "Preparing upgrade"
	}
	return o
}

// firstDeployed returns the time at which the first revision of the release was deployed. Before is the record of the previous
// revision, or nil.
func (n *NewRevision) firstDeployed(before *record.Info) time.Time {
	if before == nil {
		return n.Now
	}
	return before.FirstDeployed
}

// outdated returns the revisions to delete so that keep revisions remain. They include those that failed between two deployed
// revisions.
func outdated(before, number, keep int) []int {
	var out []int
	for old := max(before+1-keep, 1); old <= number-keep; old++ {
		if old != before {
			out = append(out, old)
		}
	}
	return out
}

// note stores the deployed revision in the record of its part.
func (n *NewRevision) note(rec *inventory.Part) {
	rec.Revision, rec.Chart, rec.Version, rec.Run = n.Next.Number, n.Chart.Name(), n.Chart.Version(), nil
	if n.Next.Before == 0 {
		rec.Origin = n.Next.Number - 1
	}
}

// Forget removes the release from the record of a part that no longer has one.
func Forget(rec *inventory.Part) {
	rec.Revision, rec.Chart, rec.Version, rec.Origin, rec.Run = 0, "", "", 0, nil
	rec.DeleteHooks, rec.TestHooks = false, false
}
