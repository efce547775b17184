// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/cli"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	greeter  = "example.org/module/greeter"
	library  = "example.org/module/library"
	yamlType = "application/octet-stream"

	// libraryContent is the only layer of the library.
	libraryContent = "{apiVersion: v1, kind: ConfigMap, metadata: {name: l}}"
)

// A run is a finished run of kymactl.
type run struct {
	code     command.ExitCode
	out, err string
}

// kymactl runs a command line in this process.
func kymactl(t *testing.T, args ...string) run { return kymactlWith(t, "", args...) }

// kymactlWith runs a command line with the given stdin.
func kymactlWith(t *testing.T, in string, args ...string) run {
	t.Helper()
	return start(t.Context(), in, args...)
}

func start(ctx context.Context, in string, args ...string) run {
	var out, err bytes.Buffer
	code := cli.Run(ctx, &command.Environment{In: strings.NewReader(in), Out: &out, Err: &err}, args)
	return run{code: code, out: out.String(), err: err.String()}
}

// want fails the test unless a run ended with an exit code, and stderr contains a text.
func (r run) want(t *testing.T, code command.ExitCode, text string) run {
	t.Helper()
	if r.code != code || !strings.Contains(r.err, text) {
		t.Fatalf("want exit code %d and %q on stderr, got %d:\n%s\nstdout:\n%s", code, text, r.code, r.err, r.out)
	}
	return r
}

// lastLine returns the last line of stdout.
func (r run) lastLine() string {
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	return lines[len(lines)-1]
}

func startRegistry(t *testing.T, o controlplane.WebOptions) *controlplane.Registry {
	t.Helper()
	return controlplane.RegistryFor(t, o)
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// A sample describes a module. The zero value is version 1.0.0 with one plain
// manifest.
type sample struct {
	version string
	text    string // Data of the manifest.
	layers  int    // Number of additional layers, of about 40 kB each.
	library bool   // Whether it references another component, which is in the layout too.
	cosign  bool   // Whether it has an attachment under a tag, like a cosign signature.
	key     *rsa.PrivateKey
}

// layout writes an image layout of the sample, and returns its path and digest.
func (s sample) layout(t *testing.T) (path, digest string) {
	t.Helper()
	if s.version == "" {
		s.version = "1.0.0"
	}
	path = filepath.Join(t.TempDir(), "layout")
	l, err := layout.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := ocm.Component{Name: greeter, Version: s.version}
	if s.library {
		child := put(t, l, ocm.Component{Name: library, Version: "0.1.0"}, "with-library-0.1.0", nil, []byte(libraryContent))
		hash, err := child.Hash()
		if err != nil {
			t.Fatal(err)
		}
		c.References = []ocm.Reference{{Name: "library", Component: library, Version: "0.1.0", Digest: &ocm.Digest{
			HashAlgorithm: "sha256", NormalisationAlgorithm: "jsonNormalisation/v1", Value: hash,
		}}}
	}
	blobs := [][]byte{[]byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: greeter}, data: {text: \"" + s.text + "\"}}")}
	for i := range s.layers {
		blobs = append(blobs, bytes.Repeat([]byte{'#', byte('a' + i), '\n'}, 13_333))
	}
	tag, err := ocm.Tag(s.version)
	if err != nil {
		t.Fatal(err)
	}
	put(t, l, c, tag, s.key, blobs...)
	if _, digest, err = l.Manifest(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	if s.cosign {
		attach(t, l, digest)
	}
	return path, digest
}

// put writes a component to a store.
func put(t *testing.T, s store.Store, c ocm.Component, tag string, key *rsa.PrivateKey, blobs ...[]byte) *ocm.Descriptor {
	t.Helper()
	var layers []artifact.Layer
	for i, data := range blobs {
		name := "raw-manifest"
		typ := "yaml"
		if i > 0 {
			name, typ = "extra-"+string(rune('a'+i)), "plainText"
		}
		digest := digestOf(data)
		layers = append(layers, artifact.Layer{MediaType: yamlType, Digest: digest, Size: int64(len(data))})
		c.Resources = append(c.Resources, ocm.Resource{
			Name: name, Type: typ, Access: ocm.Access{Type: ocm.AccessLocalOCIBlob, Digest: digest, MediaType: yamlType},
			Digest: &ocm.Digest{HashAlgorithm: "sha256", NormalisationAlgorithm: ocm.NormalisationBlob, Value: strings.TrimPrefix(digest, "sha256:")},
		})
	}
	d, err := ocm.New(c)
	if err == nil && key != nil {
		d, err = ocm.Sign(d, "kyma-module-signature", key)
	}
	if err != nil {
		t.Fatal(err)
	}
	manifest, config, descriptor, err := artifact.Encode(d, layers)
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range append([][]byte{config, descriptor}, blobs...) {
		putBlob(t, s, data)
	}
	if err := s.PutManifest(t.Context(), manifest, tag); err != nil {
		t.Fatal(err)
	}
	return d
}

func putBlob(t *testing.T, s store.Store, data []byte) {
	t.Helper()
	err := s.PutBlob(t.Context(), store.Content{Digest: digestOf(data), Size: int64(len(data))}, func(offset int64) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data[offset:])), nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// attach attaches a manifest to a digest, under a tag like a cosign signature.
func attach(t *testing.T, s store.Store, digest string) {
	t.Helper()
	config, payload := []byte("{}"), []byte(`{"critical":{}}`)
	putBlob(t, s, config)
	putBlob(t, s, payload)
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": map[string]any{"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digestOf(config), "size": len(config)},
		"layers": []any{map[string]any{
			"mediaType": "application/vnd.dev.cosign.simplesigning.v1+json", "digest": digestOf(payload), "size": len(payload),
			"annotations": map[string]any{"dev.cosignproject.cosign/signature": "MEUC"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutManifest(t.Context(), manifest, cosignTag(digest)); err != nil {
		t.Fatal(err)
	}
}

func cosignTag(digest string) string { return strings.Replace(digest, ":", "-", 1) + ".sig" }

// blobsOf returns the digests of the blobs in a layout, and checks them against their content.
func blobsOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	entries, err := os.ReadDir(filepath.Join(path, "blobs", "sha256"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(path, "blobs", "sha256", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if digestOf(data) != "sha256:"+e.Name() {
			t.Errorf("blob %s has other content", e.Name())
		}
		out[e.Name()] = true
	}
	return out
}

// writes counts the requests that can change something.
func writes(r *controlplane.Registry) int {
	n := 0
	for _, q := range r.Requests() {
		if q.Method != http.MethodGet && q.Method != http.MethodHead {
			n++
		}
	}
	return n
}

// key is generated once, because that takes time.
var key = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})
