// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestAssign(t *testing.T) {
	a, b, c := configMap("a"), configMap("b"), crd("as.g")
	namespace, inside := cluster.ObjectRef{Kind: "Namespace", Name: "own"}, cluster.ObjectRef{Kind: "ConfigMap", Namespace: "own", Name: "in"}
	gone := applied("db", a)
	gone.Pruned = true
	type args struct {
		hookFailures map[object.PartID]string
		entries      []inventory.Entry
		// repaired are the parts whose inputs are the applied ones.
		repaired []object.PartID
		objects  map[object.PartID][]cluster.ObjectRef
		errs     map[object.PartID]error
	}
	type want struct {
		Objects   map[object.PartID][]cluster.ObjectRef
		Shared    map[object.PartID][]string
		Decisions Decisions
		// Inside lists the objects whose namespaces the bundle contains.
		Inside []cluster.ObjectRef
	}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Own": {
			reason: "Each part has its own objects.",
			args:   args{objects: map[object.PartID][]cluster.ObjectRef{"web": {a}, "db": {b}}},
			want:   want{Objects: map[object.PartID][]cluster.ObjectRef{"web": {a}, "db": {b}}},
		},
		"InOwnNamespace": {
			reason: "Another part contains the namespace of the object.",
			args:   args{objects: map[object.PartID][]cluster.ObjectRef{"web": {a, namespace}, "db": {inside, b}}},
			want: want{
				Objects: map[object.PartID][]cluster.ObjectRef{"web": {a, namespace}, "db": {inside, b}}, Inside: []cluster.ObjectRef{inside},
			},
		},
		"InOwnNamespaceAtRest": {
			reason: "The part that contains the namespace is not planned.",
			args:   args{entries: []inventory.Entry{applied("web", namespace)}, objects: map[object.PartID][]cluster.ObjectRef{"db": {inside}}},
			want:   want{Objects: map[object.PartID][]cluster.ObjectRef{"db": {inside}}, Inside: []cluster.ObjectRef{inside}},
		},
		"Twice": {
			reason: "If two parts contain an object, the later one fails. It owns none of its objects, so another part can.",
			args:   args{objects: map[object.PartID][]cluster.ObjectRef{"web": {a}, "db": {b, a}, "ui": {b}}},
			want: want{
				Objects:   map[object.PartID][]cluster.ObjectRef{"web": {a}, "ui": {b}},
				Decisions: Decisions{{Part: "db", Hindrance: Dropped, Reason: "ConfigMap apps/a is also part of web"}},
			},
		},
		"SharedCRDs": {
			reason: "A CRD belongs to the first part that contains it. The other parts record that they share it.",
			args:   args{objects: map[object.PartID][]cluster.ObjectRef{"web": {c, crd("bs.g")}, "db": {crd("bs.g"), c, b}, "ui": {c}}},
			want: want{
				Objects: map[object.PartID][]cluster.ObjectRef{"web": {c, crd("bs.g")}, "db": {b}, "ui": nil},
				Shared:  map[object.PartID][]string{"db": {"as.g", "bs.g"}, "ui": {"as.g"}},
			},
		},
		"AtRest": {
			reason: "A part at rest keeps its objects, regardless of its position.",
			args:   args{entries: []inventory.Entry{applied("ui", a)}, objects: map[object.PartID][]cluster.ObjectRef{"web": {a}, "db": {b}}},
			want: want{
				Objects:   map[object.PartID][]cluster.ObjectRef{"db": {b}},
				Decisions: Decisions{{Part: "web", Hindrance: Dropped, Reason: "ConfigMap apps/a is also part of ui"}},
			},
		},
		"GivenAway": {
			reason: "A planned part may no longer contain an object.",
			args:   args{entries: []inventory.Entry{applied("db", a)}, objects: map[object.PartID][]cluster.ObjectRef{"web": {a}, "db": {b}}},
			want:   want{Objects: map[object.PartID][]cluster.ObjectRef{"web": {a}, "db": {b}}},
		},
		"Pruned": {
			reason: "A part at rest does not own objects that it no longer contains.",
			args:   args{entries: []inventory.Entry{gone}, objects: map[object.PartID][]cluster.ObjectRef{"web": {a}}},
			want:   want{Objects: map[object.PartID][]cluster.ObjectRef{"web": {a}}},
		},
		"RepairSharesCRDs": {
			reason: "A repair leaves a CRD to the part that owns it, regardless of the position of the part, and records that it is shared.",
			args: args{
				entries: []inventory.Entry{applied("db", c), applied("db", crd("bs.g")), applied("web", a)}, repaired: []object.PartID{"web", "db"},
				objects: map[object.PartID][]cluster.ObjectRef{"web": {c, crd("bs.g"), a}, "db": {c, crd("bs.g")}},
			},
			want: want{
				Objects: map[object.PartID][]cluster.ObjectRef{"web": {a}, "db": {c, crd("bs.g")}},
				Shared:  map[object.PartID][]string{"web": {"as.g", "bs.g"}},
			},
		},
		"RepairSharesDroppedCRD": {
			reason: "The owner drops the CRD in the same step.",
			args: args{
				entries: []inventory.Entry{applied("db", c)}, repaired: []object.PartID{"web"},
				objects: map[object.PartID][]cluster.ObjectRef{"web": {c}, "db": nil},
			},
			want: want{Objects: map[object.PartID][]cluster.ObjectRef{"web": nil, "db": nil}, Shared: map[object.PartID][]string{"web": {"as.g"}}},
		},
		"Left": {
			reason: "A part that left the bundle does not own objects.",
			args:   args{entries: []inventory.Entry{applied("old", a)}, objects: map[object.PartID][]cluster.ObjectRef{"web": {a}}},
			want:   want{Objects: map[object.PartID][]cluster.ObjectRef{"web": {a}}},
		},
		"InOrder": {
			reason: "Parts whose hook failed and parts that cannot be composed come first, in the order of the bundle.",
			args: args{
				hookFailures: map[object.PartID]string{"db": "hook\nfailed"}, errs: map[object.PartID]error{"web": errors.New("no chart"), "ui": errors.New("")},
			},
			want: want{Decisions: Decisions{
				{Part: "web", Hindrance: Dropped, Reason: "no chart"}, {Part: "db", Hindrance: Failed, Reason: "hook failed"},
				{Part: "ui", Hindrance: Dropped, Reason: "failed for an unknown reason"},
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &Selection{
				Input: Input{
					Parts:     []bundle.Part{install("web", "1"), install("db", "1"), install("ui", "1")},
					Inventory: &inventory.Inventory{Objects: tc.args.entries},
				},
				HookFailures: tc.args.hookFailures,
			}
			for i := range s.Parts {
				if _, composed := tc.args.objects[s.Parts[i].Name]; composed {
					d := Due{Part: &s.Parts[i], Record: inventory.Part{Shared: []string{"before"}}}
					if slices.Contains(tc.args.repaired, d.Part.Name) {
						d.Record.Digest = d.Part.Digest
					}
					s.Due = append(s.Due, d)
				}
			}
			composed := composeAll(s.Due, tc.args.objects)
			composed.Errors = tc.args.errs
			d := Assign(s, composed)
			got := want{Objects: map[object.PartID][]cluster.ObjectRef{}, Shared: map[object.PartID][]string{}, Decisions: d.Decisions}
			for _, c := range d.Components {
				var refs []cluster.ObjectRef
				for i := range c.Objects {
					refs = append(refs, c.Objects[i].Ref)
					if c.Objects[i].OwnNamespace {
						got.Inside = append(got.Inside, c.Objects[i].Ref)
					}
				}
				got.Objects[c.Name] = refs
				if c.Record.Shared != nil {
					got.Shared[c.Name] = c.Record.Shared
				}
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Decision{}, "Err")); diff != "" {
				t.Errorf("\n%s\nAssign(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(composeAll(s.Due, tc.args.objects).Components, composed.Components, cmpopts.IgnoreUnexported(object.Desired{})); diff != "" {
				t.Errorf("\n%s\nAssign(...) changes a component: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
