// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// TestMemberAgain checks that a removal that failed doesn't remember that it released an object if the object became a member again: the
// next removal, or a step that no longer contains the object, releases it again, even if the watch doesn't show it.
func TestMemberAgain(t *testing.T) {
	kept := key("ConfigMap", "apps", "kept")
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: apps, annotations: {helm.sh/resource-policy: keep}}}\n"
	with, without := bundleOf(plainOf("raw", text, configMap("one"))), bundleOf(plainOf("raw", configMap("one")))
	unlabeled := func(b *bench) { b.s.edit(kept, stripped(object.LabelManagedBy)) }
	cases := map[string]struct {
		reason string
		// again makes the object a member again, so that the watch doesn't show it.
		again func(b *bench)
		then  func(b *bench)
	}{
		"Pruned": {
			reason: "The bundle no longer contains the object.", again: func(b *bench) { b.reconcile(with); unlabeled(b) },
			then: func(b *bench) { b.reconcile(without) },
		},
		"Removed": {
			reason: "The bundle is removed again.", again: func(b *bench) { b.reconcile(with); unlabeled(b) },
			then: func(b *bench) { b.takeAll(with) },
		},
		"OtherProcess": {
			reason: "Another process made the object a member again.", again: func(b *bench) { b.another().reconcile(with); unlabeled(b) },
			then: func(b *bench) { b.takeAll(with) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.reconcile(with)
			b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
				if verb != "delete" {
					return nil
				}
				return refusal(403, metav1.StatusReasonForbidden, "may not delete %s", k)
			}
			if r, err := b.Remove(t.Context(), b.c, with); err == nil || r.Gone || isOwn(b.s.objects[kept], b.ID(with)) {
				t.Fatalf("\n%s\nthe removal must fail after it released the object: %+v, %v", tc.reason, r, err)
			}
			b.s.fault = nil
			tc.again(b)
			if !isOwn(b.s.objects[kept], b.ID(with)) {
				t.Fatalf("\n%s\nthe object must be a member again", tc.reason)
			}
			tc.then(b)
			if o := b.s.objects[kept]; o == nil || isOwn(o, b.ID(with)) {
				t.Errorf("\n%s\nthe object is gone, or still has the label of the bundle", tc.reason)
			}
		})
	}
}
