// SPDX-License-Identifier: Apache-2.0

package module

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

const signature = "module-signature"

// keyPair creates a key pair for signatures with a name.
func keyPair(t *testing.T) (*rsa.PrivateKey, ocm.Key) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	key, err := ocm.ParseKey(signature, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: b}))
	if err != nil {
		t.Fatal(err)
	}
	return private, key
}

func signed(t *testing.T, d *ocm.Descriptor, private *rsa.PrivateKey) *ocm.Descriptor {
	t.Helper()
	out, err := ocm.Sign(d, signature, private)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// install returns an install of a layer.
func install(name string, content []byte) v1alpha1.Install {
	return v1alpha1.Install{Name: name, Source: v1alpha1.Source{Type: v1alpha1.SourceTypeOCIRef, Repo: "r.example.org/a", Name: "b", Ref: sum(content)}}
}

func TestVerify(t *testing.T) {
	private, key := keyPair(t)
	_, other := keyPair(t)
	chart, crds := []byte("chart"), []byte("crds")
	p := newPuller()
	plain := describe(t, sample, "1.0.0", []fields{local("chart", "helm-chart", chart), local("crds", "yaml", crds)})
	good := signed(t, plain, private)
	digest := p.push(t, good, chart, crds)
	lower := describe(t, "example.org/module/lower", "2.0.0", []fields{local("chart", "helm-chart", chart)})
	p.push(t, lower, chart)
	root := signed(t, describe(t, "example.org/module/root", "1.0.0", nil, refer(t, "low", lower)), private)
	inline := func(d *ocm.Descriptor, installs ...v1alpha1.Install) v1alpha1.ManifestParameters {
		return v1alpha1.ManifestParameters{Descriptor: &runtime.RawExtension{Raw: d.JSON()}, Installs: installs}
	}
	component := v1alpha1.Component{Repository: "reg.example.org/modules", Name: sample, Version: "1.0.0"}
	layer := func(content []byte) *v1alpha1.LayerSource {
		return &v1alpha1.LayerSource{Type: v1alpha1.LayerSourceTypeOCIRef, Repo: "r.example.org/a", Name: "b", Ref: sum(content)}
	}
	cases := map[string]struct {
		reason string
		p      v1alpha1.ManifestParameters
		keys   []ocm.Key
		down   bool
		want   string // Text that the error contains; empty if there is no error.
		failed bool   // The error occurs while fetching.
	}{
		"Inline":    {reason: "A signature by a key covers the source.", p: inline(good, install("chart", chart)), keys: []ocm.Key{other, key}},
		"Reference": {reason: "A signature covers referenced components, too.", p: inline(root, install("low-chart", chart)), keys: []ocm.Key{key}},
		"Component": {
			reason: "A component is fetched by digest.",
			p: v1alpha1.ManifestParameters{
				Component: &v1alpha1.ComponentDigest{Component: component, Digest: digest},
				Installs:  []v1alpha1.Install{install("chart", chart)}, CRDs: layer(crds),
			},
			keys: []ocm.Key{key},
		},
		"OtherVersion": {
			reason: "The component must have the specified version.",
			p: v1alpha1.ManifestParameters{
				Component: &v1alpha1.ComponentDigest{
					Component: v1alpha1.Component{Repository: component.Repository, Name: sample, Version: "2.0.0"}, Digest: digest,
				},
			},
			keys: []ocm.Key{key},
			want: `spec.forProvider.component: component example.org/module/sample has version "1.0.0" instead of the requested version "2.0.0"`,
		},
		"OtherKey":  {reason: "Another key is not good enough.", p: inline(good, install("chart", chart)), keys: []ocm.Key{other}, want: "signature"},
		"Unsigned":  {reason: "A signature is required.", p: inline(plain, install("chart", chart)), keys: []ocm.Key{key}, want: "signature"},
		"Swapped":   {reason: "A source that is not signed is named.", p: inline(good, install("chart", []byte("x"))), keys: []ocm.Key{key}, want: `install "chart": signature "module-signature" does not cover sha256:`},
		"CRDs":      {reason: "CRDs must be signed.", p: v1alpha1.ManifestParameters{Descriptor: &runtime.RawExtension{Raw: good.JSON()}, CRDs: layer([]byte("x"))}, keys: []ocm.Key{key}, want: "crds: signature"},
		"Config":    {reason: "The config must be signed.", p: v1alpha1.ManifestParameters{Descriptor: &runtime.RawExtension{Raw: good.JSON()}, Config: layer([]byte("x"))}, keys: []ocm.Key{key}, want: "config: signature"},
		"Chart":     {reason: "A version can refer to changed content.", p: inline(good, v1alpha1.Install{Name: "c", Source: v1alpha1.Source{Type: v1alpha1.SourceTypeHelmChart}}), keys: []ocm.Key{key}, want: `install "c": a chart that is specified by version cannot be verified`},
		"InlineRaw": {reason: "YAML in the spec has no signature.", p: inline(good, v1alpha1.Install{Name: "r", Source: v1alpha1.Source{Type: v1alpha1.SourceTypeRaw, Inline: "a: b"}}), keys: []ocm.Key{key}, want: `install "r": content without a digest cannot be verified`},
		"InlineAndRef": {
			reason: "Plain YAML in the spec is not signed, so it is rejected.",
			p: inline(good, v1alpha1.Install{Name: "r", Source: v1alpha1.Source{
				Type: v1alpha1.SourceTypeRaw, Inline: "a: b", Repo: "r.example.org/a", Name: "b", Ref: sum(chart),
			}}),
			keys: []ocm.Key{key}, want: `install "r": content without a digest cannot be verified`,
		},
		"Nothing": {reason: "Without a descriptor there is no signature.", keys: []ocm.Key{key}, want: "spec.forProvider has neither descriptor nor component"},
		"Both": {
			reason: "Only one of two components could be verified.",
			p: v1alpha1.ManifestParameters{
				Descriptor: &runtime.RawExtension{Raw: good.JSON()}, Component: &v1alpha1.ComponentDigest{Component: component, Digest: digest},
			},
			keys: []ocm.Key{key}, want: "spec.forProvider has both descriptor and component",
		},
		"Malformed": {reason: "A descriptor that cannot be read is not trusted.", p: v1alpha1.ManifestParameters{Descriptor: &runtime.RawExtension{Raw: []byte("{}")}}, keys: []ocm.Key{key}, want: "spec.forProvider.descriptor: "},
		"Down":      {reason: "A registry that is down says nothing about signatures.", p: inline(root), keys: []ocm.Key{key}, down: true, want: "the registry is down", failed: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p.down = tc.down
			_, err := NewVerifier(p).Verify(t.Context(), nil, &tc.p, tc.keys)
			if tc.want == "" {
				if err != nil {
					t.Errorf("\n%s\nVerify(...): %v", tc.reason, err)
				}
				return
			}
			var v *ocm.VerificationError
			if err == nil || !strings.Contains(err.Error(), tc.want) || errors.As(err, &v) == tc.failed {
				t.Errorf("\n%s\nVerify(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestVerifyRemembered checks that the cache key of results includes everything that they depend on.
func TestVerifyRemembered(t *testing.T) {
	private, key := keyPair(t)
	_, other := keyPair(t)
	chart := []byte("chart")
	p := newPuller()
	lower := describe(t, "example.org/module/lower", "2.0.0", []fields{local("chart", "helm-chart", chart)})
	root := signed(t, describe(t, sample, "1.0.0", nil, refer(t, "low", lower)), private)
	params := func(content []byte) *v1alpha1.ManifestParameters {
		return &v1alpha1.ManifestParameters{Descriptor: &runtime.RawExtension{Raw: root.JSON()}, Installs: []v1alpha1.Install{install("chart", content)}}
	}
	v := NewVerifier(p)
	steps := []struct {
		reason  string
		before  func()
		content []byte
		keys    []ocm.Key
		ok      bool
		asks    bool
	}{
		{reason: "A failure to fetch content is not cached.", content: chart, keys: []ocm.Key{key}, asks: true},
		{
			reason:  "A referenced component that differs is rejected, and the result is not cached.",
			before:  func() { p.push(t, describe(t, "example.org/module/lower", "2.0.0", nil)) },
			content: chart, keys: []ocm.Key{key}, asks: true,
		},
		{reason: "A component that was corrected is verified again.", before: func() { p.push(t, lower, chart) }, content: chart, keys: []ocm.Key{key}, ok: true, asks: true},
		{reason: "A success is cached, so that it requires no request while the registry is down.", before: func() { p.down = true }, content: chart, keys: []ocm.Key{key}, ok: true},
		{reason: "The result for another source is not cached.", before: func() { p.down = false }, content: []byte("x"), keys: []ocm.Key{key}, asks: true},
		{reason: "The result for another key is not cached.", content: chart, keys: []ocm.Key{other}, asks: true},
	}
	for _, s := range steps {
		if s.before != nil {
			s.before()
		}
		calls := p.calls
		_, err := v.Verify(t.Context(), nil, params(s.content), s.keys)
		if (err == nil) != s.ok || (p.calls > calls) != s.asks {
			t.Errorf("\n%s\nVerify(...): %v, %d requests", s.reason, err, p.calls-calls)
		}
	}
}
