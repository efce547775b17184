// SPDX-License-Identifier: Apache-2.0

package object

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPartID(t *testing.T) {
	type want struct {
		Kind                   PartKind
		Install, Title, Stored string
	}
	cases := map[string]struct {
		reason string
		id     PartID
		want   want
	}{
		"Install":  {reason: "An install is shown by its name.", id: PartOf("web"), want: want{Install: "web", Title: "web", Stored: `{"web":"web"}`}},
		"CRDs":     {reason: "The CRDs differ from an install with the same title.", id: PartCRDs, want: want{Kind: PartKindCRDs, Title: "crds", Stored: `{"crds:":"crds:"}`}},
		"Resource": {reason: "The custom resource differs from an install with the same title.", id: PartResource, want: want{Kind: PartKindResource, Title: "resource", Stored: `{"resource:":"resource:"}`}},
		"SameName": {reason: "An install can have the title of another part.", id: PartOf("crds"), want: want{Install: "crds", Title: "crds", Stored: `{"crds":"crds"}`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(map[PartID]PartID{tc.id: tc.id})
			if err != nil {
				t.Fatal(err)
			}
			got := want{Kind: tc.id.Kind(), Install: tc.id.Install(), Title: tc.id.String(), Stored: string(data)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nPartID: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
