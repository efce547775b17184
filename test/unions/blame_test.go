// SPDX-License-Identifier: Apache-2.0

package unions

import (
	"strings"
	"testing"
)

// TestBlame checks that the error about a StatefulSet names the immutable field, and not a field with a default.
func TestBlame(t *testing.T) {
	const claims = "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n"
	cases := map[string]struct{ reason, from, to, want string }{
		"Changed": {
			reason: "An empty value does not cause the error.",
			from:   "podManagementPolicy: ''\n" + claims, to: "podManagementPolicy: ''\n" + strings.Replace(claims, "1Gi", "2Gi", 1),
			want: "spec.volumeClaimTemplates cannot be changed (",
		},
		"Removed": {
			reason: "The result names the removed field.",
			from:   "podManagementPolicy: ''\n" + claims, to: "podManagementPolicy: ''",
			want: "spec.volumeClaimTemplates cannot be changed (",
		},
		"Added": {
			reason: "The result names the added field, and ignores an equal quantity in another format.",
			from:   claims, to: "podManagementPolicy: Parallel\n" + strings.Replace(claims, "1Gi", "1024Mi", 1),
			want: "spec.podManagementPolicy cannot be changed (",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connectTo(t)
			ns := c.namespace(t, "blame-"+strings.ToLower(name))
			if err := c.apply(t, bundleOf(ns, named(statefulSet(tc.from), "db"))); err != nil {
				t.Fatal(err)
			}
			want := "web: StatefulSet " + ns + "/db: " + tc.want
			if err := c.apply(t, bundleOf(ns, named(statefulSet(tc.to), "db"))); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("\n%s\nwant error %q, got %v", tc.reason, want, err)
			}
		})
	}
}
