// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestRemoveAdopted checks that removal and pruning keep a Namespace and a CRD that existed before they were adopted, unless
// the caller asks to delete them, and that they delete everything that the engine created.
func TestRemoveAdopted(t *testing.T) {
	namespace, crd := key("Namespace", "", "shared"), key("CustomResourceDefinition", "", "widgets.example.org")
	both := []cluster.ObjectRef{crd, namespace}
	cases := map[string]struct {
		reason  string
		existed bool
		// again installs and removes the bundle a second time, without adopting.
		again, prune bool
		options      []CallOption
		want         []cluster.ObjectRef
	}{
		"Removed":      {reason: "An adopted object stays, because other clients may depend on it.", existed: true, want: both},
		"Pruned":       {reason: "An adopted object that the bundle no longer contains stays.", existed: true, prune: true, want: both},
		"Again":        {reason: "An adopted object stays adopted if the same bundle finds it again.", existed: true, again: true, want: both},
		"Asked":        {reason: "An adopted object is deleted if the option requests it.", existed: true, options: []CallOption{DeleteAdopted()}},
		"PrunedAsked":  {reason: "An adopted object that the bundle no longer contains is deleted if the option requests it.", existed: true, prune: true, options: []CallOption{DeleteAdopted()}},
		"Created":      {reason: "An object that an adopting bundle created is deleted."},
		"CreatedPrune": {reason: "An object that an adopting bundle created, and no longer contains, is deleted.", prune: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if tc.existed {
				b.s.put(manifestOf(t, namespaceOf("shared")).Object)
				b.s.put(manifestOf(t, tmplCRD).Object)
			}
			s := bundleOf(install("web", tmplConfig, namespaceOf("shared"), tmplCRD))
			s.Adopt = true
			b.reconcile(s)
			if tc.again {
				b.takeAll(s)
				s.Adopt = false
				b.reconcile(s)
			}
			released := map[cluster.ObjectRef]bool{}
			if tc.prune {
				less := bundleOf(install("web", tmplConfig))
				for range 4 {
					for _, ref := range b.apply(less, tc.options...).KeptAdopted {
						released[ref] = true
					}
				}
			} else {
				for range 6 {
					r := b.take(s, tc.options...)
					for _, ref := range r.KeptAdopted {
						released[ref] = true
					}
					if r.Gone {
						break
					}
				}
			}
			want := map[cluster.ObjectRef]bool{}
			for _, ref := range tc.want {
				want[ref] = true
			}
			if diff := cmp.Diff(want, released); diff != "" {
				t.Errorf("\n%s\nreleased: -want, +got:\n%s", tc.reason, diff)
			}
			b.s.mu.Lock()
			defer b.s.mu.Unlock()
			for _, ref := range both {
				o := b.s.objects[ref]
				if (o != nil) != want[ref] {
					t.Errorf("\n%s\n%s exists: want %t", tc.reason, ref, want[ref])
				}
				if o != nil && (o.u().GetLabels()[object.LabelPartOf] != "" || o.u().GetAnnotations()[object.AnnotationAdopted] == "") {
					t.Errorf("\n%s\n%s is not released: %v %v", tc.reason, ref, o.u().GetLabels(), o.u().GetAnnotations())
				}
			}
		})
	}
}
