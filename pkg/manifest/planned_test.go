// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestRemovePlanned checks that an owner that only plans removes nothing that an earlier owner of the same name left in the cluster.
func TestRemovePlanned(t *testing.T) {
	const ours = "control-plane"
	cases := map[string]struct {
		reason string
		// leave is what the first owner does.
		leave func(b *bench, s *Bundle)
		// uid is the UID of the owner that plans.
		uid  string
		want bool
	}{
		"Detached": {
			reason: "The earlier owner no longer manages the objects.",
			leave:  func(b *bench, s *Bundle) { b.detach(s) }, uid: "2", want: true,
		},
		"Orphaned": {
			reason: "The earlier owner was deleted without its objects.",
			leave:  func(*bench, *Bundle) {}, uid: "2", want: true,
		},
		"Own": {
			reason: "The owner has applied the objects before it planned.",
			leave:  func(*bench, *Bundle) {}, uid: "1",
		},
		"Applied": {
			reason: "The owner has applied the objects of the earlier one.",
			leave: func(b *bench, _ *Bundle) {
				b.reconcile(of(bundleOf(install("web", configMap("one"), configMap("two"))), "2", ours))
			}, uid: "2",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := of(bundleOf(install("web", configMap("one"))), "1", ours)
			b.reconcile(s)
			tc.leave(b, s)
			before := b.installedObjects()
			b.restart()
			planned := of(bundleOf(install("web", configMap("one"))), tc.uid, ours)
			planned.Planned = true
			if _, err := b.Plan(t.Context(), b.c, planned); err != nil {
				t.Fatal(err)
			}
			owned := (*OwnedError)(nil)
			exists, err := b.Exists(t.Context(), b.c, planned)
			if errors.As(err, &owned) != tc.want || exists == tc.want {
				t.Errorf("%s Exists() = %t, %v", tc.reason, exists, err)
			}
			if !tc.want {
				b.takeAll(planned)
				return
			}
			if owned.Holder() != s.Owner+" with UID 1" {
				t.Errorf("%s the holder is %q", tc.reason, owned.Holder())
			}
			if _, err := b.Remove(t.Context(), b.c, planned); !errors.As(err, &owned) {
				t.Errorf("%s Remove() = %v", tc.reason, err)
			}
			if diff := cmp.Diff(before, b.installedObjects()); diff != "" {
				t.Errorf("%s the objects: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}
