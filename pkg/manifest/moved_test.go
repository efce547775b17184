// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestMovedVersion checks that an object counts as existing as long as its kind is served in any version.
func TestMovedVersion(t *testing.T) {
	two := configMap("two")
	old := strings.Replace(fmt.Sprintf(tmplWidget, "prod-db"), "/v1", "/v1alpha1", 1)
	db := key("Widget", "apps", "prod-db")
	type want struct {
		Pruned, Kept []cluster.ObjectRef
		Exists       bool
		Marks        []string
	}
	remove := func(b *bench, s *Bundle) want {
		b.takeAll(s)
		return want{}
	}
	cases := map[string]struct {
		reason string
		widget string
		act    func(b *bench, s *Bundle) want
		want   want
	}{
		"Remove": {reason: "The removal deletes the object in the other version.", widget: old, act: remove},
		"Prune": {
			reason: "So does a new version that does not contain the object.", widget: old,
			act:  func(b *bench, _ *Bundle) want { return want{Pruned: b.apply(bundleOf(install("web", two))).Pruned} },
			want: want{Pruned: []cluster.ObjectRef{db}},
		},
		"Keep": {
			reason: "An object with the keep policy is orphaned in the other version.", widget: kept(old),
			act:  func(b *bench, s *Bundle) want { return want{Kept: b.take(s).Kept} },
			want: want{Kept: []cluster.ObjectRef{db}, Exists: true, Marks: []string{"Widget apps/prod-db annotation " + object.AnnotationKeptBy}},
		},
		"Detach": {
			reason: "The object is detached in the other version.", widget: old,
			act: func(b *bench, s *Bundle) want {
				if b.isDetached(s) {
					b.t.Error("want a bundle that is not detached")
				}
				b.detach(s)
				return want{}
			},
			want: want{Exists: true},
		},
	}
	watches := map[string]func(b *bench, gvk cluster.Mapping){
		"Unwatched": func(b *bench, _ cluster.Mapping) { b.c.blind["Widget"] = true },
		"Watched":   func(*bench, cluster.Mapping) {},
		"Learned": func(b *bench, m cluster.Mapping) {
			b.c.blind["Widget"] = true
			b.c.AddMapping(db.GroupKind().WithVersion("v1alpha1"), m)
		},
	}
	for name, tc := range cases {
		for how, watch := range watches {
			t.Run(name+how, func(t *testing.T) {
				b := newBench(t)
				crd := manifestOf(t, strings.Replace(tmplCRD, "[{", "[{name: v1alpha1, served: true}, {", 1))
				crdKey := b.s.put(crd.Object)
				s := bundleOf(install("web", two, tc.widget))
				b.reconcile(s)
				b.s.edit(crdKey, func(u *unstructured.Unstructured) {
					u.Object["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)["served"] = false
				})
				watch(b, cluster.Mapping{Resource: "widgets", Namespaced: true})
				got := tc.act(b, s)
				got.Exists = b.s.uidOf(db) != ""
				for _, m := range b.marks(s) {
					if strings.HasPrefix(m, db.String()+" label") || strings.HasPrefix(m, db.String()+" annotation") {
						got.Marks = append(got.Marks, m)
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}
