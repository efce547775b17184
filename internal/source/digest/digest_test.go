// SPDX-License-Identifier: Apache-2.0

package digest

import (
	"maps"
	"testing"
)

// TestStay fixes each text, because inventories in target clusters contain it. Do not update the values.
func TestStay(t *testing.T) {
	const zeros = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	cases := map[string]struct {
		reason string
		got    string
		want   string
	}{
		"Chart":         {reason: "A chart is identified by digest.", got: OfBlob(Chart, zeros), want: "oci-ref " + zeros},
		"Plain":         {reason: "Plain YAML is identified by digest.", got: OfBlob(Plain, zeros), want: "raw " + zeros},
		"Kustomization": {reason: "A kustomization is identified by digest.", got: OfBlob(Kustomization, zeros), want: "kustomize " + zeros},
		"CRDs":          {reason: "CRDs are identified by digest.", got: OfBlob(CRDs, zeros), want: "crds " + zeros},
		"Config":        {reason: "A config layer is identified by digest.", got: OfBlob(Config, zeros), want: "config " + zeros},
		"Inline":        {reason: "Inline YAML in a spec is identified by its digest.", got: OfText(Plain, zeros), want: "raw inline " + zeros},
		"Version":       {reason: "A chart in a repository is identified by version.", got: OfChart("oci://r.example.org/c", "web", "1.2.3"), want: "helm-chart oci://r.example.org/c web 1.2.3"},
		"Latest":        {reason: "The latest version results in a trailing space.", got: OfChart("https://c.example.org", "web", ""), want: "helm-chart https://c.example.org web "},
		"Artifact":      {reason: "An artifact is identified by reference.", got: OfArtifact("r.example.org/c/web:1.2.3"), want: "oci r.example.org/c/web:1.2.3"},
		"Files": {
			reason: "Files are identified by name and content.", got: OfFiles(maps.All(map[string][]byte{"objects.yaml": []byte("a: b\n")})),
			want: "files 8b35e8a95f036de23a350e16ac136b89579b461b0776db937de0769be2128604",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("\n%s\nwant %q, got %q", tc.reason, tc.want, tc.got)
			}
		})
	}
}
