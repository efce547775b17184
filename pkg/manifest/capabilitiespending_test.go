// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUpgradedWhilePending checks that a chart is adapted to the version of the cluster, even if the cluster is upgraded while the
// hooks of the chart run.
func TestUpgradedWhilePending(t *testing.T) {
	cases := map[string]struct {
		reason, data string
		want         []string
	}{
		"Random": {
			reason: "A chart with random values continues with the recorded objects. It is upgraded afterwards.",
			data:   "data: {k: {{ randAlphaNum 8 }}}\n", want: []string{"1 superseded", "2 deployed"},
		},
		"Pure": {
			reason: "A chart that always renders the same is rendered again at once.",
			data:   "data: {k: v}\n", want: []string{"1 deployed"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.s.unready = true
			s := bundleOf(install("web", tmplByVersion+tc.data, hookJob("first", "pre-install")))
			b.apply(s)
			b.c.version, b.c.known = "v1.37.0", "v1.37.0"
			b.s.unready = false
			completeJob(b, "first")
			b.reconcile(s)
			for name, want := range map[string]bool{"old": false, "new": true} {
				if got := b.s.objects[key("ConfigMap", "apps", name)] != nil; got != want {
					t.Errorf("\n%s\nConfigMap %s exists: %t, want %t", tc.reason, name, got, want)
				}
			}
			if diff := cmp.Diff(tc.want, b.statuses()); diff != "" {
				t.Errorf("\n%s\nrevisions: -want, +got:\n%s", tc.reason, diff)
			}
			if o := b.observe(s); o.State != Ready || !o.UpToDate {
				t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
			}
		})
	}
}
