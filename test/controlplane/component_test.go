// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
)

// reader reads from a registry over plain HTTP, without a cache.
type reader struct{}

func (reader) get(ctx context.Context, repository, kind, reference string) ([]byte, error) {
	host, path, _ := strings.Cut(repository, "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/v2/"+path+"/"+kind+"/"+reference, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, errors.Errorf("GET %s: %s", req.URL, res.Status)
	}
	return io.ReadAll(res.Body)
}

func (r reader) Manifest(ctx context.Context, repository, reference string) ([]byte, string, error) {
	data, err := r.get(ctx, repository, "manifests", reference)
	sum := sha256.Sum256(data)
	return data, "sha256:" + hex.EncodeToString(sum[:]), err
}

func (r reader) Blob(ctx context.Context, repository, digest string) ([]byte, error) {
	return r.get(ctx, repository, "blobs", digest)
}

func component(edit func(c *Component)) Component {
	c := Component{
		Name: "example.org/module/x", Version: "1.2.3",
		Resources: []ComponentResource{
			{Name: "chart", Type: "helm-chart", Files: chart()},
			{Name: "raw-manifest", Type: "yaml", Data: []byte("a: b\n")},
			{Name: "image", Type: "ociImage", Access: map[string]any{"type": "ociRegistry", "imageReference": "example.org/x:1"}},
		},
	}
	edit(&c)
	return c
}

func TestPushComponent(t *testing.T) {
	r, err := StartRegistry(WebOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	const urlPath = "component-descriptors/example.org/module/x"
	cases := map[string]struct {
		reason string
		edit   func(c *Component)
		path   string
		access string
	}{
		"URLPath": {
			reason: "Without options, a component has the format of component-spec.",
			edit:   func(*Component) {}, path: urlPath, access: ocm.AccessLocalOCIBlob,
		},
		"OCM": {
			reason: "OCM writes other media types and accesses.",
			edit:   func(c *Component) { c.OCM = true }, path: urlPath, access: ocm.AccessLocalBlob,
		},
		"Digest": {
			reason: "A repository can be named by the hash of the component's name.",
			edit:   func(c *Component) { c.Mapping = ocm.SHA256Digest }, path: hashOf("example.org/module/x"), access: ocm.AccessLocalOCIBlob,
		},
		"Build": {
			reason: "The + of a version is not valid in a tag.",
			edit:   func(c *Component) { c.Version = "1.2.3+build.4" }, path: urlPath, access: ocm.AccessLocalOCIBlob,
		},
		"Reference": {
			reason: "References to other components are not resolved.",
			edit: func(c *Component) {
				c.References = []ComponentReference{{Name: "other", Component: "example.org/module/y", Version: "0.1.0"}}
			},
			path: urlPath, access: ocm.AccessLocalOCIBlob,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := component(tc.edit)
			pushed, err := r.PushComponent(t.Context(), "modules", c)
			if err != nil {
				t.Fatalf("%s: PushComponent: %v", tc.reason, err)
			}
			if want := r.Host() + "/modules/" + tc.path; pushed.Repository != want {
				t.Errorf("%s: repository: want %q, got %q", tc.reason, want, pushed.Repository)
			}
			location := ocm.Location{BaseURL: r.Host() + "/modules", Mapping: c.Mapping}
			got, digest, err := artifact.Fetch(t.Context(), reader{}, location, c.Name, c.Version)
			if err != nil {
				t.Fatalf("%s: Fetch: %v", tc.reason, err)
			}
			if diff := cmp.Diff(string(pushed.Descriptor), string(got.JSON())); diff != "" || digest != pushed.Digest {
				t.Errorf("%s: digest %s, want %s; descriptor -want, +got:\n%s", tc.reason, digest, pushed.Digest, diff)
			}
			if access := got.Resources()[1].Access; access.Type != tc.access {
				t.Errorf("%s: access: want %q, got %q", tc.reason, tc.access, access.Type)
			}
			data, err := reader{}.Blob(t.Context(), pushed.Repository, got.Resources()[1].Access.Digest)
			if err != nil || !bytes.Equal(data, c.Resources[1].Data) {
				t.Errorf("%s: blob: %v: %q", tc.reason, err, data)
			}
			again, err := r.PushComponent(t.Context(), "modules", component(tc.edit))
			if diff := cmp.Diff(pushed, again); err != nil || diff != "" {
				t.Errorf("%s: the same component makes other bytes: %v: -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestPushSignedComponent checks that a signature is valid, also for referenced components, and that tampering invalidates it.
func TestPushSignedComponent(t *testing.T) {
	r, err := StartRegistry(WebOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	public, err := ocm.ParseKey("acme", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	if err != nil {
		t.Fatal(err)
	}
	local := func(c *Component) { c.Resources = c.Resources[:2] }
	other := component(local)
	other.Name = "example.org/module/y"
	child, err := r.PushComponent(t.Context(), "modules", other)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		edit   func(c *Component)
		valid  bool
	}{
		"Signed": {reason: "A signed component is verified.", edit: func(*Component) {}, valid: true},
		"Tampered": {reason: "A component that was edited after signing is not verified.", edit: func(c *Component) {
			c.Tamper = func(d []byte) []byte { return bytes.ReplaceAll(d, []byte("helm-chart"), []byte("plainText")) }
		}},
		"Unsigned": {reason: "An unsigned component is not verified.", edit: func(c *Component) { c.Sign = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := component(local)
			c.Sign = &Signing{Name: "acme", Key: key}
			c.References = []ComponentReference{{Name: "other", Component: other.Name, Version: other.Version, Descriptor: child.Descriptor}}
			tc.edit(&c)
			if _, err := r.PushComponent(t.Context(), "modules", c); err != nil {
				t.Fatal(err)
			}
			location := ocm.Location{BaseURL: r.Host() + "/modules"}
			root, _, err := artifact.Fetch(t.Context(), reader{}, location, c.Name, c.Version)
			if err != nil {
				t.Fatal(err)
			}
			all, err := artifact.Collect(t.Context(), reader{}, location, root)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = ocm.Verify(all, []ocm.Key{public}); (err == nil) != tc.valid {
				t.Errorf("%s: Verify: %v", tc.reason, err)
			}
		})
	}
}
