// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// FuzzOfFlux checks that the layer of a manifest has a digest, and that errors are a single line.
func FuzzOfFlux(f *testing.F) {
	digest := "sha256:" + strings.Repeat("0a", 32)
	good := fmt.Sprintf(`{"schemaVersion":2,"config":{"mediaType":%q,"digest":%q},"layers":[{"mediaType":%q,"size":1,"digest":%q}]}`,
		FluxConfig, digest, FluxContent, digest)
	for _, s := range []string{good, strings.Replace(good, `"size":1`, `"size":1e18`, 1), strings.Replace(good, "sha256:", "sha512:", 2), "{}", `{"layers":[null]}`, "[]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(data))()
		const limit = 1 << 20
		got, err := OfFlux(data, limit)
		switch {
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Errorf("error of several lines: %q", err)
		case err == nil && (!oci.ValidDigest(got) || !IsFlux(data)):
			t.Errorf("it leads to %q", got)
		}
	})
}
