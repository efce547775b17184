// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestRemembered checks that a checkpoint is only used for its own Manifest and cluster.
func TestRemembered(t *testing.T) {
	of := Subject{ObjectKey: client.ObjectKey{Namespace: "n", Name: "m"}, UID: "1", Cluster: "a"}
	cases := map[string]struct {
		reason string
		s      Subject
		want   bool
	}{
		"Same":    {reason: "The next pass gets what the last one remembered.", s: of, want: true},
		"Again":   {reason: "A Manifest that was created again is another one.", s: Subject{ObjectKey: of.ObjectKey, UID: "2", Cluster: "a"}},
		"Cluster": {reason: "A revision that was installed in another cluster is not used.", s: Subject{ObjectKey: of.ObjectKey, UID: "1", Cluster: "b"}},
		"Name":    {reason: "Another Manifest shares nothing.", s: Subject{ObjectKey: client.ObjectKey{Namespace: "n", Name: "x"}, UID: "1", Cluster: "a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &Memory{}
			m.Set(of, State{Data: []byte("x")})
			if got := string(m.Take(tc.s).Data) == "x"; got != tc.want {
				t.Errorf("\n%s\nTake(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
