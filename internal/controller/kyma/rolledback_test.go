// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"testing"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestStatusOfRollback checks that the status of a module shows the running version while its Manifest is rolled back, and which one failed.
func TestStatusOfRollback(t *testing.T) {
	rolled := func(st *v1alpha1.RollbackStatus) func(*v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) { m.Status.AtProvider.Rollback = st }
	}
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.Manifest)
		want   string
		from   string
	}{
		"None":     {reason: "Usually the desired version runs.", change: rolled(nil), want: "2.0.0"},
		"Watched":  {reason: "An upgrade that is being watched runs.", change: rolled(&v1alpha1.RollbackStatus{Version: "1.0.0"}), want: "2.0.0"},
		"Restored": {reason: "After a rollback, the restored version runs.", change: rolled(&v1alpha1.RollbackStatus{RolledBack: true, Version: "1.0.0"}), want: "1.0.0", from: "2.0.0"},
		"Unknown":  {reason: "A restored state without a version has the desired one.", change: rolled(&v1alpha1.RollbackStatus{RolledBack: true}), want: "2.0.0", from: "2.0.0"},
		"Changed": {
			reason: "A rollback belongs to the generation that failed.",
			change: func(m *v1alpha1.Manifest) {
				rolled(&v1alpha1.RollbackStatus{RolledBack: true, Version: "1.0.0"})(m)
				m.Generation++
			},
			want: "2.0.0",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := installed(newKyma(), newTemplate("a", "regular", "2.0.0"), tc.change)
			if got := statusOf(m); got.Version != tc.want || got.RolledBackFrom != tc.from {
				t.Errorf("\n%s\nstatusOf(...): want version %s, rolled back from %q, got %s, %q", tc.reason, tc.want, tc.from, got.Version, got.RolledBackFrom)
			}
		})
	}
}

// TestUpdateAfterRollback checks that a module does not report the rollback of another version once it has a new one.
func TestUpdateAfterRollback(t *testing.T) {
	live := installed(newKyma(), newTemplate("a", "regular", "2.0.0"), func(m *v1alpha1.Manifest) {
		m.Status.AtProvider.Rollback = &v1alpha1.RollbackStatus{RolledBack: true, Version: "1.0.0"}
		m.Status.AtProvider.State = v1alpha1.StateWarning
	})
	s := &step{live: live, desired: installed(newKyma(), newTemplate("a", "regular", "2.1.0")), status: statusOf(live)}
	s.update()
	s.setVersion()
	if got := s.status; s.action != actionRollOut || got.Version != "2.1.0" || got.RolledBackFrom != "" || got.State != v1alpha1.StateProcessing {
		t.Errorf("update() plans %s and reports %+v", s.action, got)
	}
}
