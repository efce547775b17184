// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRemoveRestored checks that a removal changes nothing that belongs to others in a cluster whose storage was just restored, although the
// watch still shows the inventory from before.
func TestRemoveRestored(t *testing.T) {
	cases := map[string]struct{ reason, object string }{
		"Deleted": {
			reason: "An object that the bundle adopted after the backup belongs to its users again, so it isn't deleted.",
			object: configMap("one"),
		},
		"Kept": {
			reason: "An object with the keep policy gets no annotations if it belongs to its users again.",
			object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, annotations: {helm.sh/resource-policy: keep}}\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.c.watch = newFakeWatch(b.s)
			b.s.put(manifestOf(t, namespaceOf("apps")).Object)
			b.s.put(manifestOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: apps}}").Object)
			before, backup := versions(b.s), copyObjects(b.s.objects)
			s := bundleOf(install("web", tc.object, tmplConfig))
			s.Adopt = true
			b.reconcile(s)
			b.s.objects = backup
			b.c.watch.relistAfter(1000)
			if r, err := b.Remove(t.Context(), b.c, s); !isChanged(err) || r.Gone {
				t.Errorf("\n%s\nRemove(...): want a ChangedError, got %+v, %v", tc.reason, r, err)
			}
			if diff := cmp.Diff(before, versions(b.s)); diff != "" {
				t.Errorf("\n%s\n-before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}
