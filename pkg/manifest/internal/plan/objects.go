// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// A Verb is what is done with an object of a component.
type Verb string

// The verbs.
const (
	None   Verb = "None"
	Create Verb = "Create"
	Update Verb = "Update"
	Repair Verb = "Repair"
	// Wait means that the object is being deleted, and is created once it is gone.
	Wait Verb = "Wait"
	// Spare means that the object is a CRD that was changed, and cannot be repaired now.
	Spare Verb = "Spare"
)

// Sends reports whether the object is applied.
func (v Verb) Sends() bool { return v == Create || v == Update || v == Repair }

// VerbOf an object, whose entry in the inventory is given.
func (p *Plan) VerbOf(o *object.Desired, en *inventory.Entry) Verb {
	s, exists := p.Objects[o.Ref]
	switch {
	case exists && s.Status == cluster.Terminating:
		// The API server would change an object that is being deleted.
		return Wait
	case slices.ContainsFunc(p.spared, func(s spared) bool { return s.ref == o.Ref }):
		return Spare
	case p.Repairs[o.Ref]:
		return Repair
	case en.UID == "":
		return Create
	case en.Intent != o.Hash:
		return Update
	}
	return None
}

// ToSend returns the objects of one stage of a component that are applied, but for those that are held.
func (p *Plan) ToSend(c *compose.Component, s object.Stage, idx map[cluster.ObjectRef]*inventory.Entry, held func(o *object.Desired) bool) []*object.Desired {
	var out []*object.Desired
	for i := range c.Objects {
		if o := &c.Objects[i]; o.Stage == s && !held(o) && p.VerbOf(o, idx[o.Ref]).Sends() {
			out = append(out, o)
		}
	}
	return out
}

// assignOwners decides which part each object belongs to. An object of two parts is an error of the later one, except for CRDs,
// which often come with several charts: as in Helm, the first one counts.
func (p *Plan) assignOwners() {
	busy := make(map[string]bool, len(p.Components))
	for _, c := range p.Components {
		busy[c.Name] = true
	}
	owner := map[cluster.ObjectRef]string{}
	for i := range p.Inventory.Objects {
		// A part that is planned may have given an object away, and one that is no longer wanted has.
		if en := &p.Inventory.Objects[i]; !en.Pruned && !busy[en.Part] && p.Wants(en.Part) {
			owner[en.Ref()] = en.Part
		}
	}
	p.Components = slices.DeleteFunc(p.Components, func(c *compose.Component) bool {
		if err := assignTo(c, owner); err != nil {
			p.Fail(c.Name, err)
			p.Incomplete = true
			return true
		}
		return false
	})
}

// assignTo a component the objects that belong to no part before it, and record the CRDs that it shares.
func assignTo(c *compose.Component, owner map[cluster.ObjectRef]string) error {
	for i := range c.Objects {
		o := &c.Objects[i]
		if other := owner[o.Ref]; other != "" && other != c.Name && o.Stage != object.StageCRDs {
			return errors.Errorf("%s is part of %s too", o.Ref, bundle.Title(other))
		}
	}
	var shared []string
	c.Objects = slices.DeleteFunc(c.Objects, func(o object.Desired) bool {
		if other := owner[o.Ref]; other != "" && other != c.Name {
			shared = append(shared, o.Ref.Name)
			return true
		}
		owner[o.Ref] = c.Name
		return false
	})
	slices.Sort(shared)
	c.Record.Shared = shared
	return nil
}

// Intend writes into the inventory what is about to be applied: each object of a component gets an entry. It reports whether that
// has to be saved before anything is sent: there are new objects, or parts whose old inputs are no longer what is in the cluster.
// Restart is called with each object of which ceded fields are applied again, as its part has other inputs than before.
func (p *Plan) Intend(restart func(ref cluster.ObjectRef)) bool {
	inv, changed := p.Inventory, false
	for _, c := range p.Components {
		old, ok := inv.Parts[c.Name]
		changed = changed || !ok || old.Digest != c.Record.Digest || old.ReleaseOf(c.Name) != c.Record.ReleaseOf(c.Name)
		inv.Parts[c.Name] = c.Record
	}
	idx := inv.Index()
	var added []inventory.Entry
	for _, c := range p.Components {
		for i := range c.Objects {
			o := &c.Objects[i]
			en := idx[o.Ref]
			if en == nil {
				added = append(added, inventory.EntryOf(o))
				continue
			}
			en.Part, en.Stage, en.Version, en.Pruned, en.Keep = o.Part, o.Stage, o.Version, false, o.Keep
			if !c.Repair && resetCeded(en) {
				restart(en.Ref())
			}
		}
	}
	inv.Objects = append(inv.Objects, added...)
	// To save an inventory sorts it. From here on that moves no entry.
	inv.Sort()
	return changed || len(added) > 0
}

// resetCeded removes the fields of an entry that were ceded after a contention, so that they are applied again. It reports whether
// there were any.
func resetCeded(en *inventory.Entry) bool {
	contended := func(c ownership.Ceded) bool { return c.Contended() }
	if !slices.ContainsFunc(en.Yields, contended) {
		return false
	}
	en.Yields = slices.DeleteFunc(slices.Clone(en.Yields), contended)
	en.Intent = ""
	return true
}

// IsComplete reports whether each object of a component is as it is wanted. The component waits for the first one that is not.
func (p *Plan) IsComplete(c *compose.Component) bool {
	idx := p.Inventory.Index()
	for i := range c.Objects {
		o := &c.Objects[i]
		if en := idx[o.Ref]; en.UID == "" || en.Intent != o.Hash {
			p.Wait(c.Name, o.Ref.String()+": "+untilCreated(en, p.Objects[o.Ref]))
			return false
		}
	}
	return true
}

// untilCreated returns what an object waits for that is being deleted, and is created again once it is gone. One that the inventory
// knows was deleted by another client.
func untilCreated(en *inventory.Entry, s cluster.ObjectState) string {
	reason := cmp.Or(s.Message, "is being deleted")
	if en.UID != "" {
		return reason
	}
	return "is being recreated: " + reason
}

// AwaitCRDs makes the components wait until the API server serves their kinds: those of CRDs of their own, of the CRDs of the
// bundle, and of other parts. Latest returns what is known of an object by now.
func (p *Plan) AwaitCRDs(latest func(ref cluster.ObjectRef) (cluster.ObjectState, bool)) {
	for i := range p.Inventory.Objects {
		en := &p.Inventory.Objects[i]
		if en.Stage != object.StageCRDs || en.UID == "" || en.Pruned {
			continue
		}
		s, known := latest(en.Ref())
		if !known {
			s, known = p.Objects[en.Ref()]
		}
		if !known || s.Status == cluster.Current {
			continue
		}
		for _, c := range p.Components {
			if !p.IsStopped(c.Name) && c.Needs(en) {
				p.Wait(c.Name, en.Ref().String()+": "+cmp.Or(s.Message, "is not established"))
			}
		}
	}
}

// AwaitInstalls makes the custom resource of the bundle wait until all installs are applied: only then its kind is served.
func (p *Plan) AwaitInstalls() {
	for _, c := range p.Components {
		if c.Install != nil && !p.IsStopped(c.Name) {
			p.IsComplete(c)
		}
	}
	for _, c := range p.Components {
		if c.Resource == nil || p.IsStopped(c.Name) {
			continue
		}
		for i := range p.Parts {
			part := &p.Parts[i]
			if part.Resource == nil && (p.IsStopped(part.Name) || p.StatusOf(part.Name).Blocked) {
				p.Wait(c.Name, fmt.Sprintf("%s waits until %s is applied", c.Title(), part.Title()))
				break
			}
		}
	}
}
