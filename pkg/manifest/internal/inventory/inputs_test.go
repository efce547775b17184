// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestSharesContent(t *testing.T) {
	cases := map[string]struct {
		reason string
		a, b   Inputs
		want   bool
	}{
		"Equal":  {reason: "Equal inputs share everything.", a: Inputs{Digest: "1", Content: "c"}, b: Inputs{Digest: "1", Content: "c"}, want: true},
		"Labels": {reason: "Other labels are the same content.", a: Inputs{Digest: "1", Content: "c"}, b: Inputs{Digest: "2", Content: "c"}, want: true},
		"Other":  {reason: "Other content is other inputs.", a: Inputs{Digest: "1", Content: "c"}, b: Inputs{Digest: "2", Content: "d"}},
		"Old":    {reason: "Inputs of an older version are compared by their digest.", a: Inputs{Digest: "1"}, b: Inputs{Digest: "1", Content: "c"}, want: true},
		"OldNew": {reason: "An unknown content is never equal.", a: Inputs{Digest: "1"}, b: Inputs{Digest: "2"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.a.SharesContent(tc.b); got != tc.want {
				t.Errorf("\n%s\nSharesContent(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestWithContents(t *testing.T) {
	inputs := map[object.PartID]Inputs{"web": {Digest: "1", Content: "c"}}
	of := func(p Part) *Inventory {
		return &Inventory{Parts: map[object.PartID]Part{"web": p, "gone": {Digest: "1"}}}
	}
	cases := map[string]struct {
		reason string
		part   Part
		want   Part
		same   bool
	}{
		"Old":     {reason: "The digest of an older version identifies the content.", part: Part{Digest: "1"}, want: Part{Digest: "1", Content: "c"}},
		"Run":     {reason: "The digest of a run of an older version identifies the content.", part: Part{Run: &Run{Inputs: "1"}}, want: Part{Run: &Run{Inputs: "1", Content: "c"}}},
		"Changed": {reason: "The content of another digest is unknown.", part: Part{Digest: "2", Run: &Run{Inputs: "3"}}, same: true},
		"New":     {reason: "A stored content is kept.", part: Part{Digest: "1", Content: "d", Run: &Run{Inputs: "1", Content: "d"}}, same: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, old := of(tc.part), of(tc.part)
			got := before.WithContents(inputs)
			if diff := cmp.Diff(old, before); diff != "" {
				t.Errorf("\n%s\nWithContents(...) changed its receiver: -want, +got:\n%s", tc.reason, diff)
			}
			if same := got == before; same != tc.same {
				t.Errorf("\n%s\nWithContents(...) returned the same inventory: %t, want %t", tc.reason, same, tc.same)
			}
			if tc.same {
				return
			}
			if diff := cmp.Diff(of(tc.want), got); diff != "" {
				t.Errorf("\n%s\nWithContents(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
