// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	rootName  = "kyma-project.io/module/root"
	childName = "kyma-project.io/module/child"
	leafName  = "kyma-project.io/module/leaf"
	signedBy  = "kyma-project.io/module-signature"
)

// Creating keys takes long.
var (
	ours   = sync.OnceValue(func() *rsa.PrivateKey { return newKey(2048) })
	theirs = sync.OnceValue(func() *rsa.PrivateKey { return newKey(2048) })
)

func newKey(bits int) *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return k
}

func publicPEM(tb testing.TB, public any) []byte {
	tb.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func keyOf(tb testing.TB, name string, k *rsa.PrivateKey) Key {
	tb.Helper()
	key, err := ParseKey(name, publicPEM(tb, k.Public()))
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func read(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func decoded(tb testing.TB, data []byte) *Descriptor {
	tb.Helper()
	d, err := Decode(data)
	if err != nil {
		tb.Fatalf("Decode(...): %v", err)
	}
	return d
}

// fields returns a descriptor as maps that the caller can change.
func fields(tb testing.TB, d *Descriptor) map[string]any {
	tb.Helper()
	tree, err := parseJSON(d.JSON())
	if err != nil {
		tb.Fatal(err)
	}
	return tree
}

// edited returns a descriptor after a change.
func edited(tb testing.TB, d *Descriptor, change func(tree map[string]any)) *Descriptor {
	tb.Helper()
	tree := fields(tb, d)
	change(tree)
	data, err := encode(tree)
	if err != nil {
		tb.Fatal(err)
	}
	return decoded(tb, data)
}

func digestFields(algorithm, normalisation, value string) map[string]any {
	return map[string]any{"hashAlgorithm": algorithm, "normalisationAlgorithm": normalisation, "value": value}
}

// excluded returns the fields of a digest that excludes content from signatures.
func excluded() map[string]any {
	return digestFields("NO-DIGEST", "EXCLUDE-FROM-SIGNATURE", "NO-DIGEST")
}

// digestOfBlob returns the digest of data in the format of registries.
func digestOfBlob(data []byte) string { return "sha256:" + sum(crypto.SHA256, data) }

// resource returns a local blob with a digest.
func resource(name string, data []byte) map[string]any {
	digest := digestOfBlob(data)
	return map[string]any{
		"name": name, "version": "1.0.0", "type": "helm-chart", "relation": "local",
		"digest": digestFields("sha256", NormalisationBlob, strings.TrimPrefix(digest, "sha256:")),
		"access": map[string]any{"type": "localOciBlob", "digest": digest},
	}
}

// reference returns a reference to a component, with its hash if there is one.
func reference(name, component, hash string) map[string]any {
	r := map[string]any{"name": name, "componentName": component, "version": "1.0.0"}
	if hash != "" {
		r["digest"] = digestFields("sha256", NormalisationJSON, hash)
	}
	return r
}

// component returns a descriptor with resources and references.
func component(tb testing.TB, name string, resources, references []any) *Descriptor {
	tb.Helper()
	data, err := encode(map[string]any{
		"meta": map[string]any{"schemaVersion": "v2"},
		"component": map[string]any{
			"name": name, "version": "1.0.0", "provider": "internal",
			"repositoryContexts": []any{}, "sources": []any{},
			"resources": resources, "componentReferences": references,
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return decoded(tb, data)
}

func hashOf(tb testing.TB, d *Descriptor) string {
	tb.Helper()
	h, err := d.Hash()
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func signed(tb testing.TB, d *Descriptor, name string, k *rsa.PrivateKey) *Descriptor {
	tb.Helper()
	s, err := Sign(d, name, k)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// text returns the text of err, or "".
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// isOneLine reports whether the text of an error is suitable for a condition.
func isOneLine(err error) bool {
	return err == nil || !strings.ContainsAny(err.Error(), "\n\r\t")
}
