// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// TestEncodeGolden checks the pushed bytes. If it fails, rebuilt modules have a different digest.
func TestEncodeGolden(t *testing.T) {
	d := trial(t)
	layers := []Layer{
		{MediaType: "application/gzip", Digest: d.Resources()[0].Access.Digest, Size: 98},
		{Digest: digestOfBlob([]byte("b")), Size: 1},
		{MediaType: "application/gzip", Digest: d.Resources()[0].Access.Digest, Size: 98},
	}
	m, c, descriptor, err := Encode(d, layers)
	if err != nil {
		t.Fatal(err)
	}
	layer := `{"mediaType":"application/vnd.gardener.cloud.cnudie.component-descriptor.v2+yaml+tar","digest":"` + digestOfBlob(descriptor) + `","size":2560}`
	if diff := cmp.Diff(`{"componentDescriptorLayer":`+layer+"}", string(c)); diff != "" {
		t.Errorf("Encode(...): config: -want, +got:\n%s", diff)
	}
	want := `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",` +
		`"config":{"mediaType":"application/vnd.gardener.cloud.cnudie.component.config.v1+json","digest":"` + digestOfBlob(c) + `","size":210},"layers":[` + layer +
		`,{"mediaType":"application/gzip","digest":"sha256:2dd783cc8dab86a84a7f3be1a05859d7bb265e94ec3fd72558fa0d4fbd1ce375","size":98}` +
		`,{"mediaType":"application/octet-stream","digest":"` + digestOfBlob([]byte("b")) + `","size":1}]}`
	if diff := cmp.Diff(want, string(m)); diff != "" {
		t.Errorf("Encode(...): manifest: -want, +got:\n%s", diff)
	}
	if got, want := digestOfBlob(m), "sha256:9099a03b741cacddd96a9a80d7b52304e093876f26f96103a0eeae88659cf67d"; got != want {
		t.Errorf("Encode(...): manifest has the digest %s, want %s", got, want)
	}
}

func TestEncodeErrors(t *testing.T) {
	d := component(t, rootName, []ocm.Resource{resource("chart", []byte("x"))}, nil)
	cases := map[string]struct {
		reason string
		layers []Layer
		err    string
	}{
		"Missing": {reason: "A blob that no manifest names may be deleted.", err: `cannot write component kyma-project.io/module/root:1.0.0: resource "chart" refers to blob "`},
		"Digest":  {reason: "A layer has a digest.", layers: []Layer{{Digest: "x"}}, err: `layer 0 has digest "x" and size 0`},
		"Size":    {reason: "A layer has a size.", layers: []Layer{{Digest: digestOfBlob(nil), Size: -1}}, err: "and size -1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, _, _, err := Encode(d, tc.layers); !strings.Contains(text(err), tc.err) || err == nil {
				t.Errorf("\n%s\nEncode(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
		})
	}
}
