// SPDX-License-Identifier: Apache-2.0

package cosign

import (
	"crypto"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

func TestVerify(t *testing.T) {
	// signedOf returns a layer with a payload that the key has signed.
	signedOf := func(m *memory, payload string, size int64) layer {
		s, err := newSignature(repository, signedDigest, key(), mustVerifier(t))
		if err != nil {
			t.Fatal(err)
		}
		if payload != "" {
			s.payload = []byte(payload)
			hash := crypto.SHA256.New()
			hash.Write(s.payload)
			value, err := key().Sign(rand.Reader, hash.Sum(nil), crypto.SHA256)
			if err != nil {
				t.Fatal(err)
			}
			s.base64 = base64.StdEncoding.EncodeToString(value)
		}
		m.put(s.payload)
		l := s.layer()
		if size > 0 {
			l.Size = size
		}
		return l
	}
	claim := func(digest, kind string) string {
		return `{"critical":{"image":{"docker-manifest-digest":"` + digest + `"},"type":"` + kind + `"}}`
	}
	const kind = "cosign container image signature"
	cases := map[string]struct {
		reason string
		layers func(m *memory) []layer
		want   string
	}{
		"Good":        {"A signature by the key is enough.", func(m *memory) []layer { return []layer{signedOf(m, "", 0)} }, ""},
		"Unknown":     {"What else is there does not matter.", func(m *memory) []layer { return []layer{{MediaType: "x"}, signedOf(m, "", 0)} }, ""},
		"None":        {"Nothing is signed.", nil, "no signature found under tag"},
		"OtherDigest": {"A signature is for one manifest.", func(m *memory) []layer { return []layer{signedOf(m, claim(otherDigest, kind), 0)} }, "is for different content"},
		"OtherKind": {"The key may have signed other things.", func(m *memory) []layer {
			return []layer{signedOf(m, claim(signedDigest, "atomic container signature"), 0)}
		}, "is for different content"},
		"NoJSON":       {"The key may have signed other things.", func(m *memory) []layer { return []layer{signedOf(m, signedDigest, 0)} }, "is for different content"},
		"Large":        {"What is read is bounded.", func(m *memory) []layer { return []layer{signedOf(m, "", maxPayload+1)} }, "no signature matches the key"},
		"MediaType":    {"A signature says that it is one.", func(m *memory) []layer { l := signedOf(m, "", 0); l.MediaType = "x"; return []layer{l} }, "no signature matches the key"},
		"NoAnnotation": {"A signature has a value.", func(m *memory) []layer { l := signedOf(m, "", 0); l.Annotations = nil; return []layer{l} }, "no signature matches the key"},
		"Base64":       {"A value is base64.", func(m *memory) []layer { l := signedOf(m, "", 0); l.Annotations[annotation] = "*"; return []layer{l} }, "no signature matches the key"},
		"Missing":      {"What was signed is missing.", func(m *memory) []layer { l := signedOf(m, "", 0); delete(m.blobs, l.Digest); return []layer{l} }, "no signature matches the key"},
		"Swapped":      {"What was signed was changed.", func(m *memory) []layer { l := signedOf(m, "", 0); m.blobs[l.Digest] = []byte("x"); return []layer{l} }, "no signature matches the key"},
		"Moved": {"The value is for another payload.", func(m *memory) []layer {
			l := signedOf(m, "", 0)
			l.Digest = m.put([]byte(claim(signedDigest, kind)))
			return []layer{l}
		}, "no signature matches the key"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			if tc.layers != nil {
				data, err := json.Marshal(map[string]any{"schemaVersion": 2, "layers": tc.layers(m)})
				if err != nil {
					t.Fatal(err)
				}
				m.manifests[Tag(signedDigest)] = data
			}
			err := Verify(t.Context(), m, signedDigest, key().Public())
			if (tc.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\nVerify(...): want %q, got %v", tc.reason, tc.want, err)
			}
			var unsigned *NotSignedError
			if err != nil && !errors.As(err, &unsigned) {
				t.Errorf("\n%s\nVerify(...): want a NotSignedError, got %T", tc.reason, err)
			}
		})
	}
}

func mustVerifier(tb testing.TB) verifier {
	tb.Helper()
	v, err := newVerifier(key().Public())
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// FuzzList checks that no manifest causes harm, that only signed content is verified, and that adding a signature loses
// nothing.
func FuzzList(f *testing.F) {
	f.Add([]byte(`{"layers":[{"mediaType":"` + signatureType + `","digest":"` + otherDigest + `","annotations":{"` + annotation + `":"AA=="}}]}`))
	f.Add([]byte(`{"layers":null,"LAYERS":[{}],"layers":[1]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 64 << 20, PerByte: 16 << 10}, len(data))()
		m := newMemory()
		m.manifests[Tag(signedDigest)] = slices.Clone(data)
		m.blobs[otherDigest] = data
		if Verify(t.Context(), m, signedDigest, key().Public()) == nil {
			t.Fatal("Verify(...): it was not signed")
		}
		l, err := readList(t.Context(), m, signedDigest)
		if err != nil {
			return
		}
		manifest, _, err := l.with(&signature{payload: data})
		if err != nil {
			return
		}
		again := &list{fields: map[string]json.RawMessage{}}
		if err := again.decode(manifest); err != nil || len(again.layers) != len(l.layers)+1 {
			t.Errorf("with(...): %v: %s", err, manifest)
		}
	})
}
