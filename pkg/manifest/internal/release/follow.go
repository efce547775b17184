// SPDX-License-Identifier: Apache-2.0

package release

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Revision describes a recorded revision according to the labels of its record.
type Revision struct {
	// Number is the number of the revision, or 0 if the label is not a number.
	Number int
	Status string
	// Inputs contains the digests of the inputs. It is zero for the record of another tool.
	Inputs inventory.Inputs
	// Ours is true for a record of this ApplySet. Owner is the ID of the other ApplySet that wrote the record, or empty.
	Ours  bool
	Owner string
}

// Wanted describes the release that a part must have.
type Wanted struct {
	// Part is the part that has the release.
	Part object.PartID
	// Release is the release of the part. It is zero for a part of plain objects, which has no release.
	Release inventory.Release
	// Inputs contains the digests of the inputs of the part. Retry is the retry token of the call.
	Inputs inventory.Inputs
	Retry  string
	// Adopts determines which releases to adopt.
	Adopts object.Adoption
	// RollsBack is true if the bundle returns to an earlier revision.
	RollsBack bool
	// Renamed is true if a part that the bundle no longer contains has the release, because the install was renamed.
	Renamed bool
	// Messages contain the instructions for users in errors.
	Messages advice.Messages
}

// Follow returns the next revision of a part, and the record of the part during its installation. Found lists the recorded
// revisions of the release and is required if d.NeedsSearch returns true. Follow returns an error if the release may not be
// adopted.
func Follow(d *Wanted, rec inventory.Part, found []Revision) (Next, inventory.Part, error) {
	n := Next{State: Begins, Unsearched: d.unsearched(&rec)}
	last := 0
	switch {
	case d.repairs(&rec):
		n.State, n.Before = Repairs, max(rec.Revision-1, 0)
	case d.stays(&rec):
		n.Before = rec.Revision
	default:
		if err := d.mayFollow(found); err != nil {
			return Next{}, rec, err
		}
		n.Abandoned = d.move(&rec)
		last = d.count(&n, found)
	}
	d.number(&n, &rec, last)
	n.Stale = staleOf(&n, found)
	n.Operation = operationOf(n.Before > rec.Origin, d.RollsBack)
	return n, rec, nil
}

// NeedsSearch reports whether the next revision depends on the records in the cluster.
func (d *Wanted) NeedsSearch(rec *inventory.Part) bool {
	return !d.repairs(rec) && !d.stays(rec) && !d.unsearched(rec) && !d.Release.IsZero()
}

// repairs reports whether the inputs, except for labels, are already applied, so that no revision is installed.
func (d *Wanted) repairs(rec *inventory.Part) bool { return rec.Applied().SharesContent(d.Inputs) }

// stays reports whether the inventory records the last deployed revision and the release does not move.
func (d *Wanted) stays(rec *inventory.Part) bool {
	return rec.Revision > 0 && rec.ReleaseOf(d.Part) == d.Release
}

// unsearched reports whether the part was never applied, so that the cluster is not searched for its release.
func (d *Wanted) unsearched(rec *inventory.Part) bool {
	return rec.ReleaseOf(d.Part).IsZero() && rec.FormerReleaseOf(d.Part).IsZero() && d.Adopts == object.AdoptNone && !d.Renamed
}

// move sets the release of a part to the desired one. If this abandons the target of an unfinished earlier move, it returns that
// target. The result is usually zero.
func (d *Wanted) move(rec *inventory.Part) (abandoned inventory.Release) {
	have, former := rec.ReleaseOf(d.Part), rec.FormerReleaseOf(d.Part)
	if have != d.Release {
		former, abandoned = departure(have, former, d.Release)
		rec.Run, rec.Origin = nil, 0
	}
	rec.MoveRelease(d.Part, former, d.Release)
	rec.Revision = 0
	return abandoned
}

// departure returns the release from which a move starts. A move ends the release in one place and begins it in another, or
// nowhere if plain objects replace it. If an earlier move did not finish, the start is still the deployed release, and the target
// of the earlier move is abandoned.
func departure(have, former, want inventory.Release) (from, abandoned inventory.Release) {
	if former.IsZero() || former == want {
		return have, inventory.Release{}
	}
	return former, have
}

// mayFollow returns an error if a revision belongs to another owner and may not be adopted.
func (d *Wanted) mayFollow(found []Revision) error {
	for _, r := range found {
		if !r.Ours && !d.Adopts.From(r.Owner) {
			return errors.Errorf("Helm release %s in namespace %s already exists and does not belong to this module; "+
				"uninstall the release, or %s", d.Release.Name, d.Release.Namespace, d.Messages.Adopt)
		}
	}
	return nil
}

// count sets n.Before from the recorded revisions, and n.State if the inputs are already deployed. It returns the highest
// revision before the next one, regardless of its status.
func (d *Wanted) count(n *Next, found []Revision) (last int) {
	newest := 0
	for _, r := range found {
		newest = max(newest, r.Number)
	}
	for _, r := range found {
		// A revision after one with the same inputs may have changed objects, even if it was never deployed.
		if r.Number == newest && r.Ours && r.Inputs.SharesContent(d.Inputs) && r.Status != record.StatusFailed {
			// An interrupted step recorded this revision, or the inventory was lost.
			last = max(last, r.Number-1)
			if r.Status == record.StatusDeployed {
				n.State = AlreadyDeployed
			}
			continue
		}
		last = max(last, r.Number)
		if !r.Ours || wasDeployed(r.Status) {
			n.Before = max(n.Before, r.Number)
		}
	}
	return last
}

// staleOf returns the revisions that are recorded as deployed, except for the next one and the one before it.
func staleOf(n *Next, found []Revision) []int {
	var out []int
	for _, r := range found {
		if r.Status == record.StatusDeployed && !slices.Contains([]int{0, n.Before, n.Number}, r.Number) {
			out = append(out, r.Number)
		}
	}
	return out
}

// wasDeployed reports whether a revision with a status was ever deployed. A revision whose hooks failed or are still running was
// not.
func wasDeployed(status string) bool {
	return status == "" || status == record.StatusDeployed || status == record.StatusSuperseded
}

// number sets the number of the next revision, which follows the last recorded revision and the revision whose hooks run. A
// resumed run keeps its number.
func (d *Wanted) number(n *Next, rec *inventory.Part, last int) {
	n.Number = max(n.Before, last) + 1
	run := rec.Run
	switch {
	case n.State == Repairs || run == nil:
	case rec.Resumes(d.Inputs, d.Retry):
		n.Number, n.Before = run.Revision, run.Before
		if n.State == Begins {
			n.State = Resumes
		}
	case run.Recorded:
		n.Number, n.Replaces = max(n.Number, run.Revision+1), true
	default:
		// The record may exist, because it is written before the inventory is updated.
		n.Number, n.Replaces = max(n.Number, run.Revision), true
	}
}

// operationOf returns the operation that creates the next revision. Until a revision is deployed, every attempt is an install.
func operationOf(upgrade, rollsBack bool) hook.Operation {
	switch {
	case !upgrade:
		return hook.Install
	case rollsBack:
		return hook.Rollback
	}
	return hook.Upgrade
}
