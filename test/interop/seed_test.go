// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"archive/tar"
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
	"github.com/gardener/component-spec/bindings-go/apis/v2/signatures"
	"github.com/gardener/component-spec/bindings-go/codec"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// A form is a historical format of components.
type form struct {
	config, descriptor string
	// file is the name of the descriptor in a tar. If it is empty, the descriptor is plain JSON.
	file string
	ocm  bool
	// media is the media type of the signature.
	signature string
}

func forms() map[string]form {
	const (
		gardener = "application/vnd.gardener.cloud.cnudie."
		legacy   = "application/vnd.oci.gardener.cloud.cnudie.component-descriptor"
		ocm      = "application/vnd.ocm.software.component"
		file     = "component-descriptor.yaml"
	)
	return map[string]form{
		"CNUDIE":     {config: gardener + "component.config.v1+json", descriptor: gardener + "component-descriptor.v2+yaml+tar", file: file, signature: v2.MediaTypePEM},
		"CNUDIEJSON": {config: gardener + "component.config.v1+json", descriptor: gardener + "component-descriptor.v2+json", signature: v2.MediaTypeRSASignature},
		"Legacy":     {config: legacy + "-metadata.config.v2+json", descriptor: legacy + ".config.v2+yaml+tar", file: "/" + file, signature: v2.MediaTypePEM},
		"OCM":        {config: ocm + ".config.v1+json", descriptor: ocm + "-descriptor.v2+yaml+tar", file: file, ocm: true},
		"OCMJSON":    {config: ocm + ".config.v1+json", descriptor: ocm + "-descriptor.v2+json", ocm: true},
	}
}

// TestOldModules checks that modules in historical formats can be inspected, verified, pulled and copied without changing a
// byte, and that no signature is accepted for different content.
func TestOldModules(t *testing.T) {
	_, public := keyFiles(t)
	plain := blob{"application/octet-stream", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n")}
	archive, err := chart("inner").Archive("")
	if err != nil {
		t.Fatal(err)
	}
	layers := []blob{{"application/gzip", archive}, plain}
	for name, f := range forms() {
		t.Run(name, func(t *testing.T) {
			r, other := startRegistry(t), startRegistry(t)
			descriptor := f.sign(t, f.describe(t, r.Host()+"/m", layers))
			repository := "/component-descriptors/" + greeter
			digest := f.push(t, r.Host()+"/m"+repository+":"+version, descriptor, layers)
			reference := r.Host() + "/m//" + module

			layout := filepath.Join(t.TempDir(), "layout.tar")
			ok(t, "module", "copy", reference, other.Host()+"/x")
			ok(t, "module", "pull", reference, "-o", layout)
			if got := strings.TrimSpace(run(t, tools.Crane, "digest", other.Host()+"/x"+repository+":"+version)); got != digest {
				t.Errorf("copy: want digest %s, got %s", digest, got)
			}
			for _, at := range []string{reference, other.Host() + "/x//" + module, layout} {
				if got := ok(t, "module", "verify", at, "--key", public); got != digest {
					t.Errorf("verify %s: want %s, got %s", at, digest, got)
				}
				if got := objects(t, at); !strings.Contains(got, "of: inner") || !strings.Contains(got, "name: plain") {
					t.Errorf("inspect %s: got %s", at, got)
				}
			}
			out, _ := kymactl(t, command.ExitOK, "module", "template", reference, "--inline")
			if !strings.Contains(out, greeter) {
				t.Errorf("template: got %s", out)
			}

			changed := bytes.Replace(descriptor, []byte(`"helm-chart"`), []byte(`"helmChart"`), 1)
			if bytes.Equal(changed, descriptor) {
				t.Fatal("nothing was changed, so that the rest says nothing")
			}
			f.push(t, r.Host()+"/evil"+repository+":"+version, changed, layers)
			kymactl(t, command.ExitUnverified, "module", "verify", r.Host()+"/evil//"+module, "--key", public)
		})
	}
}

// describe returns a component with a chart and plain YAML.
func (f form) describe(t *testing.T, base string, layers []blob) []byte {
	t.Helper()
	resources := []any{}
	for i, name := range []string{"inner", "raw-manifest"} {
		access := map[string]any{"type": "localOciBlob", "digest": layers[i].digest()}
		hash := "sha256"
		if f.ocm {
			hash = "SHA-256"
			access = map[string]any{"type": "localBlob", "localReference": layers[i].digest(), "mediaType": layers[i].mediaType, "referenceName": greeter + "/" + name}
		}
		resources = append(resources, map[string]any{
			"name": name, "version": version, "type": []string{"helm-chart", "yaml"}[i], "relation": "local", "access": access,
			"digest": map[string]any{
				"hashAlgorithm": hash, "normalisationAlgorithm": "genericBlobDigest/v1", "value": strings.TrimPrefix(layers[i].digest(), "sha256:"),
			},
		})
	}
	provider, kind := "internal", "ociRegistry"
	if f.ocm {
		provider, kind = `{"name":"kyma-project.io","labels":[{"name":"kyma-project.io/built-by","value":"cli","version":"v1"}]}`, "OCIRegistry"
	}
	data, err := json.Marshal(map[string]any{
		"meta": map[string]any{"schemaVersion": "v2"},
		"component": map[string]any{
			"name": greeter, "version": version, "provider": provider, "componentReferences": []any{}, "resources": resources,
			"repositoryContexts": []any{map[string]any{"type": kind, "baseUrl": base, "componentNameMapping": "urlPath"}},
			"sources": []any{map[string]any{
				"name": "module-sources", "type": "git", "version": version,
				"access": map[string]any{"type": "gitHub", "repoUrl": "https://github.com/example/greeter", "ref": "refs/heads/main", "commit": strings.Repeat("a", 40)},
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sign signs in the same way as historical tools: with the signer of component-spec, or in the format of OCM.
func (f form) sign(t *testing.T, descriptor []byte) []byte {
	t.Helper()
	d := &v2.ComponentDescriptor{}
	if err := codec.Decode(descriptor, d); err != nil {
		t.Fatal(err)
	}
	hasher, err := signatures.HasherForName(signatures.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	if f.ocm {
		signOCM(t, d, hasher)
	} else {
		private, _ := keyFiles(t)
		signer, err := signatures.CreateRSASignerFromKeyFile(private, f.signature)
		if err != nil {
			t.Fatal(err)
		}
		if err := signatures.SignComponentDescriptor(d, signer, *hasher, signature); err != nil {
			t.Fatal(err)
		}
	}
	out, err := codec.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func signOCM(t *testing.T, d *v2.ComponentDescriptor, hasher *signatures.Hasher) {
	t.Helper()
	hash, err := signatures.HashForComponentDescriptor(*d, *hasher)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := hex.DecodeString(hash.Value)
	if err != nil || len(sum) != sha256.Size {
		t.Fatalf("hash %q: %v", hash.Value, err)
	}
	value, err := rsa.SignPKCS1v15(nil, key(), crypto.SHA256, sum)
	if err != nil {
		t.Fatal(err)
	}
	hash.HashAlgorithm = "SHA-256"
	d.Signatures = append(d.Signatures, v2.Signature{Name: signature, Digest: *hash, Signature: v2.SignatureSpec{
		Algorithm: "RSASSA-PKCS1-V1_5", Value: hex.EncodeToString(value), MediaType: "application/vnd.ocm.signature.rsa",
	}})
}

// push pushes a component in its format.
func (f form) push(t *testing.T, reference string, descriptor []byte, layers []blob) string {
	t.Helper()
	if f.file != "" {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.file, Mode: 0o644, Size: int64(len(descriptor))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(descriptor); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		descriptor = out.Bytes()
	}
	first := blob{f.descriptor, descriptor}
	config, err := json.Marshal(map[string]any{"componentDescriptorLayer": first.describe()})
	if err != nil {
		t.Fatal(err)
	}
	return push(t, reference, blob{f.config, config}, append([]blob{first}, layers...)...)
}

// TestRealDescriptors checks that original descriptors of both eras can be read from a registry. Their layers are replaced,
// because the original ones no longer exist.
func TestRealDescriptors(t *testing.T) {
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	plain := []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n")
	archive, err := chart("inner").Archive("")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		file string
		form form
		// layers contains layers by the digest in the descriptor.
		layers map[string][]byte
		want   string
	}{
		"Seed": {
			file: "v1alpha1-kcp-module.yaml", form: forms()["CNUDIE"], want: "of: inner",
			layers: map[string][]byte{
				"9d37fb366e4371b44c94496f3db276bd6f3a1019c9d44077b689c68ec6486c1e": []byte("configs: []\n"),
				"2b23d1f79c4fa47488154f1579ccfb9c9d8ecd6c8f16369fd8117a9ede39f2b7": archive,
				"44499fc31e86bc504cfce0f6cb06d926cf5d3d9d1a000b71a9b2622c0e726042": crds(t),
			},
		},
		"OCM": {
			file: "v1beta2-template-operator-current.yaml", form: forms()["OCM"], want: "name: plain",
			layers: map[string][]byte{"1ea2baf45791beafabfee533031b715af8f7a4ffdfbbf30d318f52f7652c36ca": plain},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(root, "internal", "ocm", "testdata", tc.file))
			if err != nil {
				t.Fatal(err)
			}
			var layers []blob
			for old, content := range tc.layers {
				l := blob{"application/octet-stream", content}
				data = bytes.ReplaceAll(data, []byte(old), []byte(strings.TrimPrefix(l.digest(), "sha256:")))
				layers = append(layers, l)
			}
			var read struct {
				Component struct{ Name, Version string } `json:"component"`
			}
			if err := yaml.Unmarshal(data, &read); err != nil {
				t.Fatal(err)
			}
			c := read.Component
			r, other := startRegistry(t), startRegistry(t)
			digest := tc.form.push(t, r.Host()+"/m/component-descriptors/"+c.Name+":"+c.Version, data, layers)
			reference := r.Host() + "/m//" + c.Name + ":" + c.Version
			if got := ok(t, "module", "copy", reference, other.Host()+"/x"); got != digest {
				t.Errorf("copy: want %s, got %s", digest, got)
			}
			if got := objects(t, other.Host()+"/x//"+c.Name+":"+c.Version); !strings.Contains(got, tc.want) {
				t.Errorf("inspect: want %q, got %s", tc.want, got)
			}
			_, public := keyFiles(t)
			kymactl(t, command.ExitUnverified, "module", "verify", reference, "--key", public)
		})
	}
}

// crds returns a layer with CRDs.
func crds(t *testing.T) []byte {
	t.Helper()
	files := chart("unused")
	clear(files)
	files["a.yaml"] = []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greeters.example.org}
spec:
  group: example.org
  names: {kind: Greeter, plural: greeters}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)
	archive, err := files.Archive("")
	if err != nil {
		t.Fatal(err)
	}
	return archive
}
