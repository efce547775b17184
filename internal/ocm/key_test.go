// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseKey(t *testing.T) {
	k := ours()
	block := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	pkix := publicPEM(t, k.Public())
	// A self-signed certificate that has expired.
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1, 0)}, &x509.Certificate{}, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	huge := &rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), maxBits, 1), E: 65537}
	cases := map[string]struct {
		reason string
		name   string
		data   []byte
		err    string
	}{
		"PKIX":        {reason: "The output of openssl rsa -pubout is accepted.", name: "a", data: pkix},
		"PKCS1":       {reason: "The output of openssl rsa -RSAPublicKey_out is accepted.", name: "a", data: block("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&k.PublicKey))},
		"Certificate": {reason: "Only the key of a certificate counts.", name: "a", data: block("CERTIFICATE", der)},
		"Blanks":      {reason: "White space around a key is ignored, because Secrets often end with a line break.", name: "a", data: slices.Concat([]byte("\n"), pkix, []byte("\n \n"))},
		"NoName":      {reason: "A key must have the name of a signature.", data: pkix, err: "the signature name is empty"},
		"Empty":       {reason: "Empty data contains no key.", name: "a", err: `cannot read public key of signature "a": not in PEM format`},
		"Two":         {reason: "Data with two keys is ambiguous.", name: "a", data: slices.Concat(pkix, pkix), err: "more than one PEM block"},
		"Private":     {reason: "A private key is refused.", name: "a", data: block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(k)), err: "expected a public key, got a private key: use the public key"},
		"Malformed":   {reason: "The error names a malformed PEM block.", name: "a", data: block("PUBLIC KEY", []byte("x")), err: `malformed PEM block "PUBLIC KEY"`},
		"Other":       {reason: "Other blocks are not keys.", name: "a", data: block("SIGNATURE", []byte("x")), err: `unsupported PEM block "SIGNATURE"`},
		"Curve":       {reason: "Only RSA is known.", name: "a", data: publicPEM(t, curve.Public()), err: "unsupported key type *ecdsa.PublicKey: must be RSA"},
		"Short":       {reason: "Short keys are weak.", name: "a", data: publicPEM(t, newKey(1024).Public()), err: "the RSA key has 1024 bits: must have between 2048 and 16384"},
		"Huge":        {reason: "A signature of a huge key takes hours to check.", name: "a", data: publicPEM(t, huge), err: "the RSA key has 16385 bits: must have between 2048 and 16384"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseKey(tc.name, tc.data)
			if tc.err == "" {
				if err != nil || !got.public.Equal(k.Public()) || got.Name != tc.name {
					t.Errorf("\n%s\nParseKey(...): got %v, error %v", tc.reason, got, err)
				}
				return
			}
			if !strings.Contains(text(err), tc.err) || !isOneLine(err) {
				t.Errorf("\n%s\nParseKey(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	a := keyOf(t, "a", ours())
	if a.Fingerprint() != keyOf(t, "a", ours()).Fingerprint() {
		t.Error("Fingerprint(): differs for equal keys")
	}
	for _, other := range []Key{keyOf(t, "b", ours()), keyOf(t, "a", theirs()), {}} {
		if a.Fingerprint() == other.Fingerprint() {
			t.Errorf("Fingerprint(): equal for another key %v", other)
		}
	}
}
