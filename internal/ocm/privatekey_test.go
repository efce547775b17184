// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func pkcs8(tb testing.TB, key any) []byte {
	tb.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	return der
}

func TestParsePrivateKey(t *testing.T) {
	k := ours()
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der := pkcs8(t, k)
	good := pemOf("PRIVATE KEY", der)
	legacy := pem.EncodeToMemory(&pem.Block{
		Type: "RSA PRIVATE KEY", Bytes: []byte("x"),
		Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,00"},
	})
	cases := map[string]struct {
		reason string
		data   []byte
		err    string
	}{
		"PKCS8":           {"The output of openssl genpkey and of keygen is accepted.", good, ""},
		"PKCS1":           {"The output of openssl genrsa -traditional is accepted.", pemOf("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(k)), ""},
		"Blanks":          {"Files end with a line break.", slices.Concat([]byte("\n"), good, []byte("\r\n \n")), ""},
		"Empty":           {"A file may be empty.", nil, "not in PEM format"},
		"Garbage":         {"A file may be anything.", []byte("s3cret"), "not in PEM format"},
		"DER":             {"A key in DER is refused.", der, "not in PEM format"},
		"Large":           {"Files are bounded.", make([]byte, maxKeyFile+1), "larger than the limit"},
		"Public":          {"A public key is not a private key.", publicPEM(t, k.Public()), "expected a private key, got a public key"},
		"PublicPKCS1":     {"A public key in PKCS #1 is not a private key.", pemOf("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&k.PublicKey)), "expected a private key, got a public key"},
		"Certificate":     {"A certificate has no private key.", pemOf("CERTIFICATE", []byte("x")), "got a certificate"},
		"Encrypted":       {"The message says how to decrypt.", pemOf("ENCRYPTED PRIVATE KEY", []byte("x")), "openssl pkey -in"},
		"EncryptedLegacy": {"The message for a key that old versions of OpenSSL encrypted says how to decrypt it.", legacy, "openssl pkey -in"},
		"EncryptedCosign": {"An encrypted key of cosign is refused.", pemOf("ENCRYPTED SIGSTORE PRIVATE KEY", []byte("x")), "the key is encrypted"},
		"Curve":           {"An EC key of openssl genpkey is refused.", pemOf("PRIVATE KEY", pkcs8(t, curve)), "expected an RSA key, got an EC key"},
		"CurveSEC1":       {"An EC key of openssl ecparam is refused.", pemOf("EC PRIVATE KEY", sec1), "got an EC key"},
		"Edwards":         {"An Ed25519 key is refused.", pemOf("PRIVATE KEY", pkcs8(t, edwards)), "expected an RSA key, got an Ed25519 key"},
		"SSH":             {"A key of ssh-keygen is refused, and the message says how to convert it.", pemOf("OPENSSH PRIVATE KEY", []byte("x")), "ssh-keygen -p -m PEM"},
		"Other":           {"Other blocks are not keys.", pemOf("SIGNATURE", []byte("x")), `unsupported PEM block "SIGNATURE"`},
		"Two":             {"A file with two keys is ambiguous.", slices.Concat(good, good), "a single PEM block"},
		"WithCertificate": {"A file with a key must not contain a certificate.", slices.Concat(good, pemOf("CERTIFICATE", []byte("x"))), "a single PEM block"},
		"Trailing":        {"A file with a key must not contain other data.", slices.Concat(good, []byte("s3cret")), "and nothing else"},
		"TrailingDER":     {"Nothing follows in the block.", pemOf("PRIVATE KEY", append(slices.Clone(der), 0)), `malformed PEM block "PRIVATE KEY"`},
		"TrailingPKCS1":   {"Nothing follows in the block.", pemOf("RSA PRIVATE KEY", append(x509.MarshalPKCS1PrivateKey(k), 0)), "malformed PEM block"},
		"WrongBlock":      {"A block is what it says.", pemOf("RSA PRIVATE KEY", der), `malformed PEM block "RSA PRIVATE KEY"`},
		"Short":           {"Short keys are weak.", pemOf("PRIVATE KEY", pkcs8(t, newKey(1024))), "the RSA key has 1024 bits: must have between 2048 and 16384"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParsePrivateKey(tc.data)
			if (tc.err == "") != (err == nil) || !strings.Contains(text(err), tc.err) {
				t.Fatalf("\n%s\nParsePrivateKey(...): error %q does not contain %q", tc.reason, text(err), tc.err)
			}
			if err != nil {
				if got != nil || !isOneLine(err) || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("\n%s\nParsePrivateKey(...): got %v, error %q", tc.reason, got, err)
				}
				return
			}
			if private, ok := got.(*rsa.PrivateKey); !ok || !private.Equal(k) {
				t.Errorf("\n%s\nParsePrivateKey(...): got another key, %T", tc.reason, got)
			}
		})
	}
}

// FuzzParsePrivateKey checks that no file causes harm, and that no message contains its content.
func FuzzParsePrivateKey(f *testing.F) {
	f.Add([]byte("PRIVATE KEY"), []byte("s3cret"))
	f.Add([]byte("RSA PRIVATE KEY"), x509.MarshalPKCS1PrivateKey(ours()))
	f.Add([]byte("ENCRYPTED PRIVATE KEY"), []byte{})
	f.Fuzz(func(t *testing.T, kind, der []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(kind)+len(der))()
		for _, data := range [][]byte{der, pemOf(string(kind), der)} {
			_, err := ParsePrivateKey(data)
			if !isOneLine(err) || len(text(err)) > 300 {
				t.Errorf("ParsePrivateKey(...): %q", text(err))
			}
		}
	})
}
