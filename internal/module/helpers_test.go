// SPDX-License-Identifier: Apache-2.0

package module

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
)

// fakePuller contains content by repository and reference.
type fakePuller struct {
	content map[string][]byte
	down    bool
	calls   int
}

func newPuller() *fakePuller { return &fakePuller{content: map[string][]byte{}} }

func (p *fakePuller) get(repo, reference string) ([]byte, error) {
	p.calls++
	if p.down {
		return nil, errors.New("the registry is down")
	}
	data, ok := p.content[repo+" "+reference]
	if !ok {
		return nil, errors.Errorf("%s has no %s", repo, reference)
	}
	return data, nil
}

func (p *fakePuller) Manifest(_ context.Context, _ oci.Registries, repo, reference string) (data []byte, digest string, err error) {
	data, err = p.get(repo, reference)
	return data, sum(data), err
}

func (p *fakePuller) Blob(_ context.Context, _ oci.Registries, repo, digest string) ([]byte, error) {
	return p.get(repo, digest)
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(s[:])
}

// fields of a component descriptor.
type fields = map[string]any

// resourceOf returns a resource of a component, with an access and optionally a digest.
func resourceOf(name, kind string, access fields, digest string) fields {
	r := fields{"name": name, "version": "1.0.0", "type": kind, "relation": "local", "access": access}
	if digest != "" {
		r["digest"] = fields{"hashAlgorithm": "SHA-256", "normalisationAlgorithm": "genericBlobDigest/v1", "value": digest[len("sha256:"):]}
	}
	return r
}

// local returns a resource in the component's own repository.
func local(name, kind string, content []byte) fields {
	return resourceOf(name, kind, fields{"type": "localBlob", "localReference": sum(content), "mediaType": "text/plain"}, sum(content))
}

// excluded returns a resource or a reference that signatures don't cover.
func excluded(f fields) fields {
	f["digest"] = fields{"hashAlgorithm": "NO-DIGEST", "normalisationAlgorithm": "EXCLUDE-FROM-SIGNATURE", "value": "NO-DIGEST"}
	return f
}

// describe returns a component with resources and references.
func describe(t *testing.T, name, version string, resources []fields, references ...fields) *ocm.Descriptor {
	t.Helper()
	if resources == nil {
		resources = []fields{}
	}
	if references == nil {
		references = []fields{}
	}
	b, err := json.Marshal(fields{
		"meta": fields{"schemaVersion": "v2"},
		"component": fields{
			"name": name, "version": version, "provider": "internal", "sources": []string{},
			"repositoryContexts":  []fields{{"type": "OCIRegistry", "baseUrl": "https://reg.example.org/modules", "componentNameMapping": "urlPath"}},
			"componentReferences": references, "resources": resources,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := ocm.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// refer returns a reference to a component, with the digest of its descriptor.
func refer(t *testing.T, name string, d *ocm.Descriptor) fields {
	t.Helper()
	hash, err := d.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return fields{
		"name": name, "componentName": d.Name(), "version": d.Version(),
		"digest": fields{"hashAlgorithm": "sha256", "normalisationAlgorithm": "jsonNormalisation/v1", "value": hash},
	}
}

// push pushes a component, and returns the digest of its manifest.
func (p *fakePuller) push(t *testing.T, d *ocm.Descriptor, blobs ...[]byte) string {
	t.Helper()
	repo := "reg.example.org/modules/component-descriptors/" + d.Name()
	layers := make([]artifact.Layer, 0, len(blobs))
	for _, b := range blobs {
		layers = append(layers, artifact.Layer{Digest: sum(b), Size: int64(len(b))})
		p.content[repo+" "+sum(b)] = b
	}
	manifest, config, descriptor, err := artifact.Encode(d, layers)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := ocm.Tag(d.Version())
	if err != nil {
		t.Fatal(err)
	}
	p.content[repo+" "+tag], p.content[repo+" "+sum(manifest)] = manifest, manifest
	p.content[repo+" "+sum(config)], p.content[repo+" "+sum(descriptor)] = config, descriptor
	return sum(manifest)
}

// inlineTemplate returns a template with a descriptor in its spec.
func inlineTemplate(d *ocm.Descriptor) *v1alpha1.ModuleTemplate {
	return &v1alpha1.ModuleTemplate{Spec: v1alpha1.ModuleTemplateSpec{Channel: "regular", Descriptor: &runtime.RawExtension{Raw: d.JSON()}}}
}

// componentTemplate returns a template with a component in the registry.
func componentTemplate(name, version string) *v1alpha1.ModuleTemplate {
	return &v1alpha1.ModuleTemplate{Spec: v1alpha1.ModuleTemplateSpec{
		Channel: "regular", Component: &v1alpha1.Component{Repository: "reg.example.org/modules", Name: name, Version: version},
	}}
}

// pack packs files into a tar.
func pack(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
