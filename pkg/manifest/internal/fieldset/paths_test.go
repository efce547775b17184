// SPDX-License-Identifier: Apache-2.0

package fieldset

import (
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func TestTouches(t *testing.T) {
	s := fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "strategy", "rollingUpdate", "maxSurge"), fieldpath.MakePathOrDie("spec", "replicas"))
	cases := map[string]struct {
		reason string
		path   fieldpath.Path
		want   bool
	}{
		"Member": {reason: "The path is in the set.", path: fieldpath.MakePathOrDie("spec", "replicas"), want: true},
		"Above":  {reason: "A path of the set is below it.", path: fieldpath.MakePathOrDie("spec", "strategy"), want: true},
		"Below":  {reason: "A path below one of the set is not in the set.", path: fieldpath.MakePathOrDie("spec", "replicas", "x")},
		"Beside": {reason: "Another path is not in the set.", path: fieldpath.MakePathOrDie("spec", "strategy", "type")},
		"Root":   {reason: "All paths are below the root.", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Touches(s, tc.path); got != tc.want {
				t.Errorf("\n%s\nTouches(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
