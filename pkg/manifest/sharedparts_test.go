// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSharedPartRepaired checks that a repair, or a change of labels, of an install that contains a CRD of a later install neither takes
// the CRD nor forgets that the install contains it: if the later install drops the CRD, it stays.
func TestSharedPartRepaired(t *testing.T) {
	drop := func(s *Bundle) { s.Installs[1] = plainOf("later", configMap("y")) }
	cases := map[string]struct {
		reason string
		// change changes the cluster and the bundle. Afterwards, the later install drops the CRD.
		change func(b *bench, s *Bundle)
	}{
		"Repair": {
			reason: "Both installs are repaired in one step.",
			change: func(b *bench, s *Bundle) {
				b.s.remove(key("ConfigMap", "apps", "x"))
				b.s.remove(key("ConfigMap", "apps", "y"))
				b.reconcile(s)
			},
		},
		"RepairOfCRD": {
			reason: "The CRD is repaired as well.",
			change: func(b *bench, s *Bundle) {
				b.s.remove(key("ConfigMap", "apps", "x"))
				b.s.edit(widgetsCRD, set("x", "metadata", "labels", "team"))
				b.reconcile(s)
			},
		},
		"Labels": {
			reason: "The labels of all objects change.",
			change: func(b *bench, s *Bundle) {
				s.Labels = map[string]string{"team": "c"}
				b.reconcile(s)
			},
		},
		"AtOnce": {
			reason: "The first install is repaired in the step in which the later one drops the CRD.",
			change: func(b *bench, s *Bundle) {
				b.s.remove(key("ConfigMap", "apps", "x"))
				drop(s)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := bundleOf(install("first", configMap("x")), plainOf("later", tmplCRD, configMap("y")))
			b.reconcile(s)
			s.Installs[0] = install("first", "crds/"+tmplCRD, configMap("x"))
			b.reconcile(s)
			uid := b.s.uidOf(widgetsCRD)
			tc.change(b, s)
			if en := b.inventory(s).Find(widgetsCRD); en == nil || en.Part != "later" {
				t.Errorf("%s\nthe CRD must belong to the later install: %+v", tc.reason, en)
			}
			drop(s)
			b.reconcile(s)
			if diff := cmp.Diff(uid, b.s.uidOf(widgetsCRD)); diff != "" {
				t.Errorf("%s\nUID of the CRD: -want, +got:\n%s", tc.reason, diff)
			}
			b.wantReady(tc.reason, s)
		})
	}
}
