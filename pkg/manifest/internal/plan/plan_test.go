// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

func configMap(name string) cluster.ObjectRef {
	return cluster.ObjectRef{Kind: "ConfigMap", Namespace: "apps", Name: name}
}

func crd(name string) cluster.ObjectRef {
	return cluster.ObjectRef{Group: object.CRDKind.Group, Kind: object.CRDKind.Kind, Name: name}
}

// install returns an install with some inputs.
func install(name, digest string) bundle.Part {
	return bundle.Part{Name: object.PartOf(name), Digest: digest, Install: &bundle.Install{Name: name}}
}

// desired returns an object of a part. Its hash is its name.
func desired(part object.PartID, ref cluster.ObjectRef) object.Desired {
	s := object.StageOf(ref.GroupKind())
	return object.Desired{Ref: ref, Version: "v1", Part: part, Stage: s, Hash: ref.Name}
}

// applied returns the entry of an object that was applied as desired.
func applied(part object.PartID, ref cluster.ObjectRef) inventory.Entry {
	o := desired(part, ref)
	en := inventory.EntryOf(&o)
	en.UID, en.Intent, en.Owned = "1", o.Hash, "owned"
	return en
}

// paused returns the entry of an object that was restored so often at the Unix epoch that its next repair must wait.
func paused(part object.PartID, ref cluster.ObjectRef) inventory.Entry {
	en := applied(part, ref)
	en.Restores = &ownership.Restores{Count: ownership.MaxRepairs}
	return en
}

// live returns the state of an object that is as it was applied.
func live() cluster.ObjectState {
	return cluster.ObjectState{UID: "1", Set: "me", Owned: "owned", Status: cluster.Current}
}

// composeAll composes parts to objects. A part with applied inputs is repaired.
func composeAll(due []Due, objects map[object.PartID][]cluster.ObjectRef) Composed {
	out := Composed{Components: map[object.PartID]*compose.Component{}}
	for _, d := range due {
		c := &compose.Component{Part: d.Part, Record: d.Record, Purpose: compose.PurposeOf(d.Part, &d.Record)}
		for _, ref := range objects[d.Part.Name] {
			c.Objects = append(c.Objects, desired(d.Part.Name, ref))
		}
		out.Components[d.Part.Name] = c
	}
	return out
}

func TestBuild(t *testing.T) {
	a, b := configMap("a"), configMap("b")
	done := inventory.Part{Digest: "1"}
	type args struct {
		parts   []bundle.Part
		records map[object.PartID]inventory.Part
		entries []inventory.Entry
		states  map[cluster.ObjectRef]cluster.ObjectState
		denied  map[cluster.ObjectRef]error
		drift   bundle.DriftPolicy
		objects map[object.PartID][]cluster.ObjectRef
		errs    map[object.PartID]error
		hold    *Hold
		refused map[cluster.ObjectRef]error
		retry   string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"FirstInstall": {
			reason: "Without an inventory, all objects are created.",
			args:   args{parts: []bundle.Part{install("web", "1")}, objects: map[object.PartID][]cluster.ObjectRef{"web": {a, b}}},
			want:   "web: Create ConfigMap apps/a\nweb: Create ConfigMap apps/b\n",
		},
		"AtRest": {
			reason: "A part that is applied and has not drifted is not composed.",
			args: args{
				parts: []bundle.Part{install("web", "1")}, records: map[object.PartID]inventory.Part{"web": done},
				entries: []inventory.Entry{applied("web", a)}, states: map[cluster.ObjectRef]cluster.ObjectState{a: live()},
			},
		},
		"Drift": {
			reason: "A drifted object is repaired, and no other object is written.",
			args: args{
				parts: []bundle.Part{install("web", "1")}, records: map[object.PartID]inventory.Part{"web": done},
				entries: []inventory.Entry{applied("web", a), applied("web", b)}, states: map[cluster.ObjectRef]cluster.ObjectState{a: live()},
				objects: map[object.PartID][]cluster.ObjectRef{"web": {a, b}},
			},
			want: "web: Repair ConfigMap apps/b\n",
		},
		"DriftReported": {
			reason: "Under another policy, drift does not need a plan.",
			args: args{
				parts: []bundle.Part{install("web", "1")}, records: map[object.PartID]inventory.Part{"web": done}, drift: bundle.DriftReport,
				entries: []inventory.Entry{applied("web", a)},
			},
		},
		"DriftPaused": {
			reason: "An object that is deleted repeatedly must wait.",
			args: args{
				parts: []bundle.Part{install("web", "1")}, records: map[object.PartID]inventory.Part{"web": done},
				entries: []inventory.Entry{paused("web", a)},
			},
		},
		"Denied": {
			reason: "An object that may not be read has not drifted, as far as is known.",
			args: args{
				parts: []bundle.Part{install("web", "1")}, records: map[object.PartID]inventory.Part{"web": done},
				denied: map[cluster.ObjectRef]error{a: errors.New("forbidden")}, entries: []inventory.Entry{applied("web", a)},
			},
		},
		"Deleting": {
			reason: "An object that is being deleted is recreated once it is gone.",
			args: args{
				parts: []bundle.Part{install("web", "2")}, records: map[object.PartID]inventory.Part{"web": done},
				entries: []inventory.Entry{applied("web", a)},
				states:  map[cluster.ObjectRef]cluster.ObjectState{a: {UID: "1", Set: "me", Owned: "owned", Status: cluster.Terminating}},
				objects: map[object.PartID][]cluster.ObjectRef{"web": {a}},
			},
			want: "web: Wait ConfigMap apps/a\n",
		},
		"NotComposed": {
			reason: "A part that cannot be composed does not affect the other parts, but nothing may be pruned.",
			args: args{
				parts: []bundle.Part{install("web", "1"), install("db", "1")}, objects: map[object.PartID][]cluster.ObjectRef{"db": {b}},
				errs: map[object.PartID]error{"web": errors.New("no chart")},
			},
			want: "web: Dropped: no chart\ndb: Create ConfigMap apps/b\n",
		},
		"TwoOwners": {
			reason: "An object of two parts is an error of the later one.",
			args: args{
				parts:   []bundle.Part{install("web", "1"), install("db", "1")},
				objects: map[object.PartID][]cluster.ObjectRef{"web": {a}, "db": {a, b}},
			},
			want: "db: Dropped: ConfigMap apps/a is also part of web\nweb: Create ConfigMap apps/a\n",
		},
		"SharedCRD": {
			reason: "Several charts often contain the same CRD. It belongs to the first one.",
			args: args{
				parts:   []bundle.Part{install("web", "1"), install("db", "1")},
				objects: map[object.PartID][]cluster.ObjectRef{"web": {crd("as.g")}, "db": {crd("as.g"), b}},
			},
			want: "web: Create CustomResourceDefinition as.g\ndb: Create ConfigMap apps/b\n",
		},
		"FailedHook": {
			reason: "A part whose hook failed before its objects were applied stays at rest.",
			args: args{
				parts:   []bundle.Part{install("web", "1")},
				records: map[object.PartID]inventory.Part{"web": {Run: &inventory.Run{Event: "pre-install", Inputs: "1", Recorded: true, Over: true, Failed: "hook failed"}}},
			},
			want: "web: Failed: hook failed\n",
		},
		"FailedHookRetried": {
			reason: "With another retry token, the hook runs again.",
			args: args{
				parts: []bundle.Part{install("web", "1")}, objects: map[object.PartID][]cluster.ObjectRef{"web": {a}}, retry: "again",
				records: map[object.PartID]inventory.Part{"web": {Run: &inventory.Run{Event: "pre-install", Inputs: "1", Recorded: true, Over: true, Failed: "hook failed"}}},
			},
			want: "web: Create ConfigMap apps/a\n",
		},
		"FailedLastHook": {
			reason: "The drift of a part whose last hook failed is still repaired.",
			args: args{
				parts: []bundle.Part{install("web", "1")}, entries: []inventory.Entry{applied("web", a)}, objects: map[object.PartID][]cluster.ObjectRef{"web": {a}},
				records: map[object.PartID]inventory.Part{"web": {Run: &inventory.Run{Event: "post-install", Inputs: "1", Recorded: true, Over: true, Failed: "hook failed"}}},
			},
			want: "web: Repair ConfigMap apps/a\n",
		},
		"HeldBack": {
			reason: "The parts after an awaited install wait until it is ready.",
			args: args{
				parts: []bundle.Part{install("web", "1"), install("db", "1")}, records: map[object.PartID]inventory.Part{"web": done},
				entries: []inventory.Entry{applied("web", a)}, states: map[cluster.ObjectRef]cluster.ObjectState{a: live()},
				hold: &Hold{Install: "web", Reason: "it starts"}, objects: map[object.PartID][]cluster.ObjectRef{"db": {b}},
			},
			want: "db: Held: waits until install web is ready, because the config layer sets Wait: it starts\ndb: Create ConfigMap apps/b\n",
		},
		"RefusedCRD": {
			reason: "If a CRD is refused, nothing is applied, so that a module does not end up between two versions.",
			args: args{
				parts: []bundle.Part{install("web", "2"), install("db", "2")}, records: map[object.PartID]inventory.Part{"web": done, "db": done},
				entries: []inventory.Entry{{Group: crd("").Group, Version: "v1", Kind: crd("").Kind, Name: "as.g", Part: "web", Stage: object.StageCRDs, UID: "1", Intent: "old", Owned: "owned"}},
				states:  map[cluster.ObjectRef]cluster.ObjectState{crd("as.g"): live()}, objects: map[object.PartID][]cluster.ObjectRef{"web": {crd("as.g")}, "db": {b}},
				refused: map[cluster.ObjectRef]error{crd("as.g"): errors.New("objects would be invalid")},
			},
			want: "web: Dropped: CustomResourceDefinition as.g: objects would be invalid\n" +
				"db: Blocked: db is waiting for CustomResourceDefinition as.g of web to be applied\n",
		},
		"Upgrade": {
			reason: "Objects that no part contains any more are pruned. A CRD that another part shares is handed over to it.",
			args: args{
				parts:   []bundle.Part{install("web", "2"), install("db", "1")},
				records: map[object.PartID]inventory.Part{"web": done, "db": {Digest: "1", Shared: []string{"as.g"}}, "old": done},
				entries: []inventory.Entry{applied("web", crd("as.g")), applied("web", a), applied("old", b)},
				states:  map[cluster.ObjectRef]cluster.ObjectState{crd("as.g"): live(), a: live(), b: live()},
				objects: map[object.PartID][]cluster.ObjectRef{"web": {configMap("c")}},
			},
			want: "web: Create ConfigMap apps/c\n" +
				"web: HandOver CustomResourceDefinition as.g to db\nweb: Prune ConfigMap apps/a\nold: Prune ConfigMap apps/b\n",
		},
		"Given": {
			reason: "An object that moves from one part to another is not pruned.",
			args: args{
				parts: []bundle.Part{install("web", "2")}, records: map[object.PartID]inventory.Part{"web": done, "old": done},
				entries: []inventory.Entry{applied("old", a)}, states: map[cluster.ObjectRef]cluster.ObjectState{a: live()},
				objects: map[object.PartID][]cluster.ObjectRef{"web": {a}},
			},
		},
		"NothingPruned": {
			reason: "A part that cannot be composed may contain the objects that others no longer contain.",
			args: args{
				parts: []bundle.Part{install("web", "2")}, records: map[object.PartID]inventory.Part{"web": done, "old": done},
				entries: []inventory.Entry{applied("web", a), applied("old", b)},
				states:  map[cluster.ObjectRef]cluster.ObjectState{a: live(), b: live()}, errs: map[object.PartID]error{"web": errors.New("no chart")},
			},
			want: "web: Dropped: no chart\n",
		},
		"SparedCRD": {
			reason: "A changed CRD that cannot be repaired is skipped, and the rest of its part is repaired.",
			args: args{
				parts: []bundle.Part{install("web", "1")}, records: map[object.PartID]inventory.Part{"web": done},
				entries: []inventory.Entry{applied("web", crd("as.g")), applied("web", a)},
				states:  map[cluster.ObjectRef]cluster.ObjectState{crd("as.g"): {UID: "1", Set: "me", Owned: "other", Status: cluster.Current}},
				objects: map[object.PartID][]cluster.ObjectRef{"web": {crd("as.g"), a}},
				refused: map[cluster.ObjectRef]error{crd("as.g"): errors.New("objects would be invalid")},
			},
			want: "web: Spared: CustomResourceDefinition as.g: drift is not repaired: objects would be invalid\n" +
				"web: Spare CustomResourceDefinition as.g\nweb: Repair ConfigMap apps/a\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Input{
				Parts: tc.args.parts, Objects: tc.args.states, Denied: tc.args.denied, Drift: tc.args.drift,
				Retry: tc.args.retry, Now: time.Unix(0, 0),
			}
			if tc.args.records != nil || tc.args.entries != nil {
				in.Inventory = &inventory.Inventory{Parts: tc.args.records, Objects: tc.args.entries}
			}
			selected := Select(in)
			composed := composeAll(selected.Due, tc.args.objects)
			composed.Errors = tc.args.errs
			for part := range tc.args.errs {
				delete(composed.Components, part)
			}
			draft := Assign(selected, composed)
			p := Build(draft, tc.args.hold, tc.args.refused)
			if diff := cmp.Diff(p.String(), Build(draft, tc.args.hold, tc.args.refused).String()); diff != "" {
				t.Errorf("\n%s\nBuild(...) changes the draft: -first, +second:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, p.String()); diff != "" {
				t.Errorf("\n%s\nBuild(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
