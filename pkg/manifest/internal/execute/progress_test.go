// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

func configMap(name string) cluster.ObjectRef {
	return cluster.ObjectRef{Kind: "ConfigMap", Namespace: "apps", Name: name}
}

func crd(name string) cluster.ObjectRef {
	return cluster.ObjectRef{Group: object.CRDKind.Group, Kind: object.CRDKind.Kind, Name: name}
}

// install returns a part that is an install with some inputs.
func install(name, digest string) bundle.Part {
	return bundle.Part{Name: object.PartOf(name), Digest: digest, Install: &bundle.Install{Name: name}}
}

// desired returns an object of a part; its hash is its name.
func desired(part object.PartID, ref cluster.ObjectRef) object.Desired {
	return object.Desired{Ref: ref, Version: "v1", Part: part, Stage: object.StageOf(ref.GroupKind()), Hash: ref.Name}
}

// component returns the component of a part with some objects.
func component(p bundle.Part, refs ...cluster.ObjectRef) *compose.Component {
	c := &compose.Component{Part: &p, Purpose: compose.Advance}
	for _, ref := range refs {
		c.Objects = append(c.Objects, desired(p.Name, ref))
	}
	return c
}

// pending returns the entry of an object that is about to be applied, and applied that of an object in its desired state.
func pending(part object.PartID, ref cluster.ObjectRef) inventory.Entry {
	o := desired(part, ref)
	return inventory.EntryOf(&o)
}

func applied(part object.PartID, ref cluster.ObjectRef) inventory.Entry {
	en := pending(part, ref)
	en.UID, en.Intent, en.Owned = "1", ref.Name, "owned"
	return en
}

// begin returns the progress of a plan with components, whose parts are all parts of the bundle.
func begin(entries []inventory.Entry, components ...*compose.Component) *progress {
	p := &plan.Plan{Components: components, Inventory: &inventory.Inventory{Parts: map[object.PartID]inventory.Part{}, Objects: entries}}
	for _, c := range components {
		p.Parts = append(p.Parts, *c.Part)
	}
	p.Objects = map[cluster.ObjectRef]cluster.ObjectState{}
	return newProgress(p)
}

func TestProgressSharesNothing(t *testing.T) {
	ref := configMap("a")
	p := &plan.Plan{
		Components: []*compose.Component{component(install("web", "1"), ref)},
		Inventory:  &inventory.Inventory{Parts: map[object.PartID]inventory.Part{"web": {Digest: "1"}}, Objects: []inventory.Entry{applied("db", ref)}},
		Objects:    map[cluster.ObjectRef]cluster.ObjectState{ref: {UID: "1"}},
		Actions:    []plan.ObjectAction{{Part: "web", Ref: ref, Verb: plan.Repair}},
	}
	before := p.String()
	b := newProgress(p)
	b.intend()
	b.markLeaving()
	b.postpone("engine", ref, nil)
	delete(b.actions, ref)
	b.drop(b.components[0], errors.New("no"))
	b.inventory.Parts["web"] = inventory.Part{}
	if diff := cmp.Diff(before, p.String()); diff != "" {
		t.Errorf("to carry out a plan changed it: -before, +after:\n%s", diff)
	}
	if en := p.Inventory.Objects[0]; en.Part != "db" || en.Pruned || p.Inventory.Parts["web"].Digest != "1" || len(p.Objects) != 1 {
		t.Errorf("to carry out a plan changed what it is made of: %+v, %+v", p.Inventory, p.Objects)
	}
}

func TestMissing(t *testing.T) {
	a, b := configMap("a"), configMap("b")
	old := applied("web", b)
	old.Intent = "old"
	cases := map[string]struct {
		reason  string
		entries []inventory.Entry
		state   cluster.ObjectState
		want    string
	}{
		"None":     {reason: "All objects are in their desired state.", entries: []inventory.Entry{applied("web", a), applied("web", b)}},
		"New":      {reason: "An object was not created.", entries: []inventory.Entry{applied("web", a), pending("web", b)}, want: "ConfigMap apps/b: is being recreated: is being deleted"},
		"Old":      {reason: "An object has different content.", entries: []inventory.Entry{applied("web", a), old}, want: "ConfigMap apps/b: is being deleted"},
		"Reason":   {reason: "The state of the object gives a reason.", entries: []inventory.Entry{applied("web", a), old}, state: cluster.ObjectState{Message: "finalizers"}, want: "ConfigMap apps/b: finalizers"},
		"TheFirst": {reason: "The first object is reported.", entries: []inventory.Entry{pending("web", a), old}, want: "ConfigMap apps/a: is being recreated: is being deleted"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := component(install("web", "1"), a, b)
			p := begin(tc.entries, c)
			p.objects[b] = tc.state
			got, missing := p.missing(c)
			if diff := cmp.Diff(tc.want, got); diff != "" || missing != (tc.want != "") {
				t.Errorf("\n%s\nmissing(...): %t, -want, +got:\n%s", tc.reason, missing, diff)
			}
		})
	}
}

func TestAwaitCRDs(t *testing.T) {
	ref := crd("as.g")
	starts := cluster.ObjectState{Message: "is not accepted"}
	waits := func(part object.PartID, reason string) plan.Decision {
		return plan.Decision{Part: part, Hindrance: plan.Waiting, Reason: ref.String() + ": " + reason}
	}
	gone := applied("web", ref)
	gone.Pruned = true
	cases := map[string]struct {
		reason string
		entry  inventory.Entry
		known  cluster.ObjectState
		latest map[cluster.ObjectRef]cluster.ObjectState
		said   plan.Decisions
		want   plan.Decisions
	}{
		"Own":         {reason: "A component waits for its own CRD.", entry: applied("web", ref), known: starts, want: plan.Decisions{waits("web", "is not accepted")}},
		"OfBundle":    {reason: "All components wait for the CRDs of the bundle.", entry: applied(object.PartCRDs, ref), want: plan.Decisions{waits("web", "is not established"), waits("db", "is not established")}},
		"Established": {reason: "No component waits for an established CRD.", entry: applied("web", ref), known: cluster.ObjectState{Status: cluster.Current}},
		"Latest":      {reason: "The watch may have a newer state.", entry: applied("web", ref), known: starts, latest: map[cluster.ObjectRef]cluster.ObjectState{ref: {Status: cluster.Current}}},
		"NotApplied":  {reason: "A CRD that is not applied yet has failed or waits itself.", entry: pending("web", ref), known: starts},
		"Pruned":      {reason: "No component waits for a CRD that is pruned.", entry: gone, known: starts},
		"Stopped": {
			reason: "A failed component does not wait.", entry: applied("web", ref), known: starts,
			said: plan.Decisions{{Part: "web", Hindrance: plan.Failed, Reason: "no"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := begin([]inventory.Entry{tc.entry}, component(install("web", "1")), component(install("db", "1")))
			p.objects[ref] = tc.known
			p.note(tc.said...)
			got := p.awaitCRDs(func(ref cluster.ObjectRef) (cluster.ObjectState, bool) {
				s, ok := tc.latest[ref]
				return s, ok
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nawaitCRDs(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAwaitInstalls(t *testing.T) {
	a := configMap("a")
	cases := map[string]struct {
		reason string
		entry  inventory.Entry
		said   plan.Decisions
		want   plan.Decisions
	}{
		"Applied": {reason: "All installs are applied.", entry: applied("web", a)},
		"NotApplied": {
			reason: "An install that waits for an object holds back the custom resource.", entry: pending("web", a),
			want: plan.Decisions{
				{Part: "web", Hindrance: plan.Waiting, Reason: "ConfigMap apps/a: is being recreated: is being deleted"},
				{Part: object.PartResource, Hindrance: plan.Waiting, Reason: "resource is waiting for web to be applied"},
			},
		},
		"Failed": {
			reason: "An install that failed holds it back, too.", entry: applied("web", a), said: plan.Decisions{{Part: "web", Hindrance: plan.Failed, Reason: "no"}},
			want: plan.Decisions{{Part: object.PartResource, Hindrance: plan.Waiting, Reason: "resource is waiting for web to be applied"}},
		},
		"Blocked": {
			reason: "An install that a CRD blocks holds it back, too.", entry: applied("web", a), said: plan.Decisions{{Part: "web", Hindrance: plan.Blocked, Reason: "no"}},
			want: plan.Decisions{{Part: object.PartResource, Hindrance: plan.Waiting, Reason: "resource is waiting for web to be applied"}},
		},
		"Spared": {
			reason: "An install with a CRD that cannot be repaired does not.", entry: applied("web", a),
			said: plan.Decisions{{Part: "web", Hindrance: plan.Spared, Reason: "no"}},
		},
		"ResourceStopped": {
			reason: "A failed component does not wait.", entry: applied("web", a),
			said: plan.Decisions{{Part: "web", Hindrance: plan.Failed, Reason: "no"}, {Part: object.PartResource, Hindrance: plan.Failed, Reason: "no"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			resource := component(bundle.Part{Name: object.PartResource, Resource: &unstructured.Unstructured{}})
			p := begin([]inventory.Entry{tc.entry}, component(install("web", "1"), a), resource)
			p.note(tc.said...)
			if diff := cmp.Diff(tc.want, p.awaitInstalls()); diff != "" {
				t.Errorf("\n%s\nawaitInstalls(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOwnerOf(t *testing.T) {
	x := configMap("x")
	entry := func(part object.PartID, pruned bool) []inventory.Entry {
		en := applied(part, x)
		en.Pruned = pruned
		return []inventory.Entry{en}
	}
	cases := map[string]struct {
		reason  string
		entries []inventory.Entry
		web     []cluster.ObjectRef
		want    object.PartID // Empty for none.
	}{
		"None":    {reason: "An object that neither a part nor the inventory contains belongs to no part."},
		"Planned": {reason: "A planned part owns it, whatever the inventory says.", entries: entry("extra", false), web: []cluster.ObjectRef{x}, want: "web"},
		"Given":   {reason: "A planned part no longer contains it.", entries: entry("web", false)},
		"Rests":   {reason: "A part that is not planned owns what the inventory says.", entries: entry("extra", false), want: "extra"},
		"Pruned":  {reason: "An object that is being pruned belongs to no part.", entries: entry("extra", true)},
		"Left":    {reason: "An object whose part is no longer in the bundle belongs to no part.", entries: entry("old", false)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := begin(tc.entries, component(install("web", "1"), tc.web...))
			p.plan.Parts = append(p.plan.Parts, install("extra", "1"))
			got, owned := p.ownerOf(x)
			if diff := cmp.Diff(tc.want, got); diff != "" || owned != (tc.want != "") {
				t.Errorf("\n%s\nownerOf(...): %v, -want, +got:\n%s", tc.reason, owned, diff)
			}
		})
	}
}
