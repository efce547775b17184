// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/pem"

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
