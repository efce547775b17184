// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"strings"
	"testing"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"config":{"digest":"sha256:` + strings.Repeat("0", 64) + `","size":1},"layers":[]}`))
	f.Add([]byte(`{"schemaVersion":2,"manifests":[{}],"subject":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(data))()
		m, err := store.ParseManifest(data)
		if err != nil {
			return
		}
		for _, d := range append(append([]v1.Descriptor{}, m.Content()...), m.Manifests...) {
			if !oci.ValidDigest(string(d.Digest)) || d.Size < 0 {
				t.Errorf("ParseManifest(%q): %+v", data, d)
			}
		}
	})
}
