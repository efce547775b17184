// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNegotiate checks which format is chosen.
func TestNegotiate(t *testing.T) {
	const suffix = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	cases := map[string]struct {
		reason string
		accept string
		isList bool
		want   Format
		fails  bool
	}{
		"None":     {reason: "JSON is the default."},
		"Any":      {reason: "Any type is JSON.", accept: "*/*"},
		"Metadata": {reason: "The metadata can be requested as JSON.", accept: JSON + suffix, want: Format{Metadata: true}},
		"Order":    {reason: "The first one that is supported.", accept: Protobuf + suffix + "," + JSON + suffix, want: Format{Metadata: true, Protobuf: true}},
		"Whole":    {reason: "Whole objects are JSON.", accept: Protobuf + "," + JSON},
		"List":     {reason: "Metadata of a list has another name.", accept: JSON + suffix, isList: true, fails: true},
		"Table":    {reason: "Tables are not supported.", accept: JSON + ";as=Table;g=meta.k8s.io;v=v1," + JSON},
		"Unknown":  {reason: "An unknown type is rejected.", accept: "text/html", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Negotiate(tc.accept, tc.isList)
			if (err != nil) != tc.fails {
				t.Errorf("%s\nNegotiate(...): want an error: %t, got %v", tc.reason, tc.fails, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nNegotiate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
