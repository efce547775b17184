// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"testing"

	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
	"github.com/gardener/component-spec/bindings-go/apis/v2/signatures"
	"github.com/gardener/component-spec/bindings-go/oci"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// client is the registry client for the resolver of component-spec.
type client struct{}

func (client) GetManifest(ctx context.Context, ref string) (*ocispec.Manifest, error) {
	r, err := name.ParseReference(ref)
	if err != nil {
		return nil, err
	}
	d, err := remote.Get(r, remote.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	m := &ocispec.Manifest{}
	return m, json.Unmarshal(d.Manifest, m)
}

func (client) Fetch(ctx context.Context, ref string, desc ocispec.Descriptor, w io.Writer) error {
	r, err := name.ParseReference(ref)
	if err != nil {
		return err
	}
	l, err := remote.Layer(r.Context().Digest(string(desc.Digest)), remote.WithContext(ctx))
	if err != nil {
		return err
	}
	c, err := l.Compressed()
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = io.Copy(w, c)
	return err
}

// TestComponentSpecReadsOurs checks that the resolver of component-spec finds, reads and verifies pushed modules, with each
// name mapping.
func TestComponentSpecReadsOurs(t *testing.T) {
	r := startRegistry(t)
	private, public := keyFiles(t)
	path, _ := made(t, moduleYAML, "--key", private)
	for _, mapping := range []v2.ComponentNameMapping{v2.OCIRegistryURLPathMapping, v2.OCIRegistryDigestMapping} {
		t.Run(string(mapping), func(t *testing.T) {
			base := r.Host() + "/" + map[v2.ComponentNameMapping]string{v2.OCIRegistryURLPathMapping: "a/b", v2.OCIRegistryDigestMapping: "c"}[mapping]
			ok(t, "module", "push", path, base, "--name-mapping", string(mapping))
			repository := v2.NewOCIRegistryRepository(base, mapping)
			d, blobs, err := oci.NewResolver(client{}).ResolveWithBlobResolver(t.Context(), repository, greeter, version)
			if err != nil {
				t.Fatal(err)
			}
			if d.Name != greeter || d.Version != version || len(d.Resources) != 4 {
				t.Errorf("got component %s:%s with %d resources", d.Name, d.Version, len(d.Resources))
			}
			local := 0
			for _, resource := range d.Resources {
				if resource.Access.GetType() != v2.LocalOCIBlobType {
					continue
				}
				local++
				var data bytes.Buffer
				if _, err := blobs.Resolve(t.Context(), resource, &data); err != nil {
					t.Fatal(err)
				}
				if want := "sha256:" + resource.Digest.Value; digestOf(data.Bytes()) != want {
					t.Errorf("resource %s: want %s, got %s", resource.Name, want, digestOf(data.Bytes()))
				}
			}
			if local != 3 {
				t.Errorf("want a chart, plain YAML and a template as layers, got %d", local)
			}
			verifier, err := signatures.CreateRSAVerifierFromKeyFile(public)
			if err != nil {
				t.Fatal(err)
			}
			if err := signatures.VerifySignedComponentDescriptor(d, verifier, signature); err != nil {
				t.Errorf("component-spec does not take our signature: %v", err)
			}
			i := slices.IndexFunc(d.Resources, func(r v2.Resource) bool { return r.Name == "web" })
			d.Resources[i].Digest.Value = digestOf(nil)[len("sha256:"):]
			if err := signatures.VerifySignedComponentDescriptor(d, verifier, signature); err == nil {
				t.Error("the signature does not cover the chart beside the module")
			}
		})
	}
}
