// SPDX-License-Identifier: Apache-2.0

package release

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Revision is what the labels of a record say.
type Revision struct {
	// Number of the revision; 0 if the label is not a number.
	Number int
	Status string
	// Inputs is the digest of the inputs; empty for the record of another tool.
	Inputs string
	// Ours is true for a record of this ApplySet. Owner is the ID of another one that wrote it; empty for none.
	Ours  bool
	Owner string
}

// Desired says which release a part is to have.
type Desired struct {
	// Part that has the release.
	Part object.PartID
	// Release of the part. The zero value stands for a part of plain objects, which has none.
	Release inventory.Release
	// Inputs is the digest of the inputs of the part, and Retry the retry token of the call.
	Inputs, Retry string
	// Adopts says which releases are taken over.
	Adopts object.Adoption
	// RollsBack is true where the bundle goes back to a revision before.
	RollsBack bool
	// Messages tell users what to do.
	Messages advice.Messages
}

// Follow returns the next revision of a part, and the record of the part as it is while the revision is installed. Found are the
// recorded revisions of the release, where d.NeedsSearch reports true. The error says that the release is not to be taken over.
func Follow(d *Desired, rec inventory.Part, found []Revision) (Next, inventory.Part, error) {
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
	n.Operation = operationOf(n.Before > rec.Origin, d.RollsBack)
	return n, rec, nil
}

// NeedsSearch reports whether the next revision depends on the records in the cluster.
func (d *Desired) NeedsSearch(rec *inventory.Part) bool {
	return !d.repairs(rec) && !d.stays(rec) && !d.unsearched(rec) && !d.Release.IsZero()
}

// repairs reports whether the inputs were applied before, so that no revision is installed.
func (d *Desired) repairs(rec *inventory.Part) bool { return rec.Digest == d.Inputs }

// stays reports whether the inventory knows the revision that was deployed last, and the release does not move.
func (d *Desired) stays(rec *inventory.Part) bool {
	return rec.Revision > 0 && rec.ReleaseOf(d.Part) == d.Release
}

// unsearched reports whether the part was never applied, so that the cluster is not searched for its release.
func (d *Desired) unsearched(rec *inventory.Part) bool {
	return rec.ReleaseOf(d.Part).IsZero() && rec.FormerReleaseOf(d.Part).IsZero() && d.Adopts == object.AdoptNone
}

// move the release of a part to where it is to be. It returns where it was to be before it moves on; none in most cases.
func (d *Desired) move(rec *inventory.Part) (abandoned inventory.Release) {
	have, former := rec.ReleaseOf(d.Part), rec.FormerReleaseOf(d.Part)
	if have != d.Release {
		former, abandoned = departure(have, former, d.Release)
		rec.Run, rec.Origin = nil, 0
	}
	rec.MoveRelease(d.Part, former, d.Release)
	rec.Revision = 0
	return abandoned
}

// departure returns where a release that moves comes from. A release cannot move: it ends in one place and begins in the other,
// or nowhere where plain objects replace it. One that moves on before it arrived still comes from where it was deployed, and
// where it was to go is abandoned.
func departure(have, former, want inventory.Release) (from, abandoned inventory.Release) {
	if former.IsZero() || former == want {
		return have, inventory.Release{}
	}
	return former, have
}

// mayFollow returns an error if a revision belongs to another owner and is not to be adopted.
func (d *Desired) mayFollow(found []Revision) error {
	for _, r := range found {
		if !r.Ours && !d.Adopts.From(r.Owner) {
			return errors.Errorf("a Helm release %s exists in namespace %s and does not belong to this module; "+
				"uninstall it, or %s to take it over", d.Release.Name, d.Release.Namespace, d.Messages.Adopt)
		}
	}
	return nil
}

// count sets the revision before from the revisions that were found, and whether the inputs are deployed. It returns the highest
// revision before the next one, whatever became of it.
func (d *Desired) count(n *Next, found []Revision) (last int) {
	for _, r := range found {
		if r.Ours && r.Inputs == d.Inputs && r.Status != record.StatusFailed {
			// It was recorded by a step that was cut off right after it, or the inventory was lost.
			last = max(last, r.Number-1)
			if r.Status == record.StatusDeployed {
				n.State = Settled
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

// wasDeployed reports whether a revision of a status was in use; one whose hooks failed or still run never was.
func wasDeployed(status string) bool {
	return status == "" || status == record.StatusDeployed || status == record.StatusSuperseded
}

// number the next revision, after the last one that was found and the one whose hooks run.
func (d *Desired) number(n *Next, rec *inventory.Part, last int) {
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
		n.Number = max(n.Number, run.Revision+1)
	default:
		// The record may exist: it is written before the inventory says so.
		n.Number = max(n.Number, run.Revision)
	}
}

// operationOf returns the operation that makes the next revision. As long as no revision was deployed, each attempt is an install.
func operationOf(upgrade, rollsBack bool) hook.Operation {
	switch {
	case !upgrade:
		return hook.Install
	case rollsBack:
		return hook.Rollback
	}
	return hook.Upgrade
}
