// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestReferences(t *testing.T) {
	ref := func(names ...string) []v1alpha1.ManifestReference {
		var out []v1alpha1.ManifestReference
		for _, n := range names {
			out = append(out, v1alpha1.ManifestReference{APIVersion: "kyma.m.crossplane.io/v1alpha1", Kind: "Manifest", Name: n})
		}
		return out
	}
	k := newKyma(v1alpha1.Module{Name: "a"}, v1alpha1.Module{Name: "b"})
	a, b, c := newTemplate("a", "regular", "1.0.0"), newTemplate("b", "regular", "1.0.0"), newTemplate("c", "regular", "1.0.0")
	cases := map[string]struct {
		reason   string
		have     []v1alpha1.ManifestReference
		children []*v1alpha1.Manifest
		created  bool
		want     []v1alpha1.ManifestReference
		writes   []string
		upToDate bool
	}{
		"New": {
			reason: "Before Create, the references are set in memory, and written with the other changes.",
			want:   ref("k-a", "k-b"),
		},
		"Same": {
			reason: "Correct references are not written again.", created: true,
			have: ref("k-a", "k-b"), children: []*v1alpha1.Manifest{installed(k, a), installed(k, b)},
			want: ref("k-a", "k-b"), upToDate: true,
		},
		"Lost": {
			reason: "Missing references are written.", created: true,
			children: []*v1alpha1.Manifest{installed(k, a), installed(k, b)},
			want:     ref("k-a", "k-b"), writes: []string{"patch k"},
		},
		"Disabled": {
			reason: "A module that is being removed has no reference.", created: true,
			have: ref("k-a", "k-b", "k-c"), children: []*v1alpha1.Manifest{installed(k, a), installed(k, b), installed(k, c, deleted)},
			want: ref("k-a", "k-b"), writes: []string{"patch k"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, s := k.DeepCopy(), &server{}
			k.Spec.ResourceRefs = tc.have
			if tc.created {
				meta.SetExternalName(k, "k")
			}
			e := newExternal(s, newRecorder(), nil, []v1alpha1.ModuleTemplate{a, b, c}, tc.children...)
			o, err := e.Observe(t.Context(), k)
			if err != nil || o.ResourceUpToDate != tc.upToDate {
				t.Errorf("\n%s\nObserve(...): %v, up to date %t", tc.reason, err, o.ResourceUpToDate)
			}
			if o.ResourceExists && !o.ResourceUpToDate {
				if _, err := e.Update(t.Context(), k); err != nil {
					t.Errorf("\n%s\nUpdate(...): %v", tc.reason, err)
				}
			}
			if !slices.Equal(s.writes, tc.writes) {
				t.Errorf("\n%s\nwant writes %v, got %v", tc.reason, tc.writes, s.writes)
			}
			if diff := cmp.Diff(tc.want, k.Spec.ResourceRefs); diff != "" {
				t.Errorf("\n%s\nresourceRefs: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUpdateReferences checks that if another client changes a Kyma while its references are written, the reported generation
// is the planned one, because the report does not cover the change. It also checks the field manager of the references.
func TestUpdateReferences(t *testing.T) {
	cases := map[string]struct {
		reason  string
		answer  func(k *v1alpha1.Kyma)
		want    int64
		version string
	}{
		"Ours": {"The write of the references is ours.", func(*v1alpha1.Kyma) {}, 4, "new"},
		"Both": {"A change in between is not.", func(k *v1alpha1.Kyma) { k.Generation, k.Spec.ForProvider.Channel = 5, "fast" }, 3, "old"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKyma(v1alpha1.Module{Name: "a"})
			k.Generation, k.ResourceVersion = 3, "old"
			manager := ""
			e := &external{
				connector: &connector{store: newStore(&test.MockClient{MockPatch: func(_ context.Context, o client.Object, _ client.Patch, opts ...client.PatchOption) error {
					manager = (&client.PatchOptions{}).ApplyOptions(opts).FieldManager
					out, _ := o.(*v1alpha1.Kyma)
					out.Generation, out.ResourceVersion = 4, "new"
					tc.answer(out)
					return nil
				}}, nil)},
				steps: newPlanner(k, []v1alpha1.ModuleTemplate{newTemplate("a", "regular", "1.0.0")}).plan(),
			}
			if err := e.updateReferences(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			if manager != fieldManager {
				t.Errorf("\n%s\nupdateReferences(...): want field manager %q, got %q", tc.reason, fieldManager, manager)
			}
			if k.Generation != tc.want || k.ResourceVersion != tc.version {
				t.Errorf("\n%s\nupdateReferences(...): generation %d, version %s", tc.reason, k.Generation, k.ResourceVersion)
			}
		})
	}
}
