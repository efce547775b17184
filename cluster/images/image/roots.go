// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"encoding/pem"
	"runtime/debug"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// roots returns the certificate authorities that Mozilla trusts, in PEM, as the Go project publishes them. It omits
// authorities that are trusted under conditions, because a PEM file cannot express them.
func roots() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return out.Bytes()
}

// RootsModule is the module of the certificate authorities.
const RootsModule = "golang.org/x/crypto/x509roots/fallback"

// Roots returns the module of the certificate authorities in the images, with its version. It is not part of the provider, so the
// build information of the provider doesn't contain it.
func Roots() (debug.Module, bool) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return debug.Module{}, false
	}
	for _, m := range info.Deps {
		if m.Path == RootsModule {
			return *m, true
		}
	}
	return debug.Module{}, false
}
