// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRemoveRestored checks that a removal, or a step that prunes, changes nothing that belongs to others in a cluster whose storage was just
// restored, although the watch still shows the inventory from before.
func TestRemoveRestored(t *testing.T) {
	const kept = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, annotations: {helm.sh/resource-policy: keep}}\n"
	more := install("more", configMap("more"))
	remove := func(b *bench) error { _, err := b.Remove(b.t.Context(), b.c, bundleOf(more)); return err }
	prune := func(b *bench) error { _, err := b.Apply(b.t.Context(), b.c, bundleOf(more)); return err }
	cases := map[string]struct {
		reason, object string
		step           func(b *bench) error
	}{
		"Deleted": {
			reason: "An object that the bundle adopted after the backup belongs to its users again, so it isn't deleted.",
			object: configMap("one"), step: remove,
		},
		"Kept": {
			reason: "An object with the keep policy gets no annotations if it belongs to its users again.",
			object: kept, step: remove,
		},
		"Pruned": {
			reason: "An object that the bundle no longer contains isn't deleted if it belongs to its users again.",
			object: configMap("one"), step: prune,
		},
		"PrunedKept": {
			reason: "An object with the keep policy that the bundle no longer contains gets no annotations if it belongs to its users again.",
			object: kept, step: prune,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.c.watch = newFakeWatch(b.s)
			b.s.put(manifestOf(t, namespaceOf("apps")).Object)
			b.s.put(manifestOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: apps}}").Object)
			before, backup := versions(b.s), copyObjects(b.s.objects)
			s := bundleOf(install("web", tc.object, tmplConfig), more)
			s.Adopt = true
			b.reconcile(s)
			b.s.objects = backup
			b.c.watch.relistAfter(1000)
			if err := tc.step(b); !isChanged(err) {
				t.Errorf("\n%s\nwant a ChangedError, got %v", tc.reason, err)
			}
			if diff := cmp.Diff(before, versions(b.s)); diff != "" {
				t.Errorf("\n%s\n-before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}
