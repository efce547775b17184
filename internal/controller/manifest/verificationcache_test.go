// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
)

// fakeRegistry contains content by digest, and counts requests.
type fakeRegistry struct {
	content  map[string][]byte
	requests int
}

func (r *fakeRegistry) add(data []byte) string {
	sum := sha256.Sum256(data)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	r.content[digest] = data
	return digest
}

func (r *fakeRegistry) Manifest(ctx context.Context, regs oci.Registries, repo, reference string) (data []byte, digest string, err error) {
	data, err = r.Blob(ctx, regs, repo, reference)
	return data, reference, err
}

func (r *fakeRegistry) Blob(_ context.Context, _ oci.Registries, _, digest string) ([]byte, error) {
	r.requests++
	if data, ok := r.content[digest]; ok {
		return data, nil
	}
	return nil, errors.Errorf("host has no %s", digest)
}

// oneKey is a reader that returns the same public key for each Secret.
type oneKey struct {
	public *rsa.PublicKey
}

func (s *oneKey) Get(context.Context, string, string) (map[string][]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(s.public)
	return map[string][]byte{"key": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})}, err
}

func (s *oneKey) GetTyped(ctx context.Context, namespace, name string) (corev1.SecretType, map[string][]byte, error) {
	data, err := s.Get(ctx, namespace, name)
	return corev1.SecretTypeOpaque, data, err
}

// signedComponent pushes a signed component with one chart to a registry.
func signedComponent(t *testing.T, r *fakeRegistry, chart string, key *rsa.PrivateKey) *v1alpha1.ComponentDigest {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"meta": map[string]any{"schemaVersion": "v2"},
		"component": map[string]any{
			"name": "example.org/module/test", "version": "1.0.0", "provider": "internal",
			"repositoryContexts": []any{}, "sources": []any{}, "componentReferences": []any{},
			"resources": []any{map[string]any{
				"name": "web", "version": "1.0.0", "type": "helm-chart", "relation": "local",
				"access": map[string]any{"type": "localOciBlob", "digest": chart},
				"digest": map[string]any{
					"hashAlgorithm": "sha256", "normalisationAlgorithm": "genericBlobDigest/v1", "value": strings.TrimPrefix(chart, "sha256:"),
				},
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := ocm.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = ocm.Sign(d, "acme", key); err != nil {
		t.Fatal(err)
	}
	data, config, layer, err := artifact.Encode(d, []artifact.Layer{{Digest: chart}})
	if err != nil {
		t.Fatal(err)
	}
	r.add(config)
	r.add(layer)
	return &v1alpha1.ComponentDigest{
		Component: v1alpha1.Component{Repository: "registry.example.org/modules", Name: d.Name(), Version: d.Version()},
		Digest:    r.add(data),
	}
}

// TestVerifyIsCached checks that a verified component is not verified again until its keys or its sources change.
func TestVerifyIsCached(t *testing.T) {
	ours, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	chart, registry := "sha256:"+strings.Repeat("a", 64), &fakeRegistry{content: map[string][]byte{}}
	mr := named("n", "m")
	mr.Spec.ForProvider.Component = signedComponent(t, registry, chart, ours)
	mr.Spec.ForProvider.Installs = []v1alpha1.Install{{Name: "web", Source: v1alpha1.Source{Type: v1alpha1.SourceTypeOCIRef, Ref: chart}}}
	keys := &oneKey{public: &ours.PublicKey}
	c := &connector{secrets: keys, record: &recorded{}, verifier: module.NewVerifier(registry)}
	cfg := &config.Config{Kind: "ProviderConfig", Name: "c", Namespace: "n"}
	cfg.Spec.Verification = asks(v1alpha1.VerificationEnforce, "acme")

	verify := func() error {
		v := c.verify(t.Context(), cfg, mr)
		(&reporter{recorder: &recorded{}}).verification(mr, v)
		return v.refusal()
	}
	if err := verify(); err != nil || registry.requests == 0 {
		t.Fatalf("verify(...): %v, after %d requests", err, registry.requests)
	}
	registry.requests = 0
	before := mr.DeepCopy()
	for range 3 {
		if err := verify(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, mr); diff != "" || registry.requests != 0 {
		t.Errorf("a verified component must be neither fetched nor reported again: %d requests, -want, +got:\n%s", registry.requests, diff)
	}

	keys.public = &theirs.PublicKey
	if err := verify(); err == nil || mr.GetCondition(v1alpha1.TypeVerified).Status != corev1.ConditionFalse {
		t.Errorf("a verification with another key must not count: %v", err)
	}
	keys.public = &ours.PublicKey
	mr.Spec.ForProvider.Installs[0].Source.Ref = "sha256:" + strings.Repeat("b", 64)
	if err := verify(); err == nil || !strings.Contains(err.Error(), `install "web"`) {
		t.Errorf("a verification of another chart must not count: %v", err)
	}
}
