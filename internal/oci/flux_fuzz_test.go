// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzFluxLayer checks that what a manifest leads to has a digest, and that errors are one line.
func FuzzFluxLayer(f *testing.F) {
	good := fmt.Sprintf(`{"schemaVersion":2,"config":{"mediaType":%q,"digest":%q},"layers":[{"mediaType":%q,"size":1,"digest":%q}]}`,
		fluxConfig, digestOf(nil), fluxContent, digestOf(nil))
	for _, s := range []string{good, strings.Replace(good, `"size":1`, `"size":1e18`, 1), strings.Replace(good, "sha256:", "sha512:", 2), "{}", `{"layers":[null]}`, "[]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 20
		digest, err := fluxLayer(data, limit)
		switch {
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Errorf("error of several lines: %q", err)
		case err == nil && (!isDigest.MatchString(digest) || !isFlux(data)):
			t.Errorf("it leads to %q", digest)
		}
	})
}
