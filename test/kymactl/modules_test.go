// SPDX-License-Identifier: Apache-2.0

package kymactl

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const (
	greeter = "example.org/module/greeter"
	// inRegistry is the repository of greeter below a base.
	inRegistry = "component-descriptors/" + greeter
	// signature is the default name of signatures.
	signature = "kyma-module-signature"
	// fixtures is a directory of modules with golden digests.
	fixtures = "../../internal/module/build/testdata"
)

// fixture copies a fixture, and returns the path of the copy.
func (p *testUser) fixture(name, to string) string {
	GinkgoHelper()
	dir := filepath.Join(p.path("input"), to)
	Expect(os.CopyFS(dir, os.DirFS(filepath.Join(fixtures, name)))).To(Succeed())
	return dir
}

// golden returns the golden digest of a fixture.
func golden(name string) string {
	GinkgoHelper()
	digest, _, _ := strings.Cut(string(must(os.ReadFile(filepath.Join(fixtures, "golden", name+".txt")))), "\n")
	return digest
}

// configMap returns a ConfigMap as YAML.
func configMap(name, text string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata:\n  text: \"" + text + "\"\n"
}

// noise returns a reproducible text that cannot be compressed.
func noise(bytes, seed int) string {
	r := mathrand.NewChaCha8([32]byte{byte(seed)})
	data := make([]byte, bytes*3/4)
	_, _ = r.Read(data)
	return base64.StdEncoding.EncodeToString(data)
}

// sample writes version 1.0.0 of greeter, with charts of size bytes of noise and a ConfigMap with a text, and returns its
// directory.
func (p *testUser) sample(name, text string, size int) string {
	GinkgoHelper()
	files := map[string]string{
		"module.yaml":          "name: " + greeter + "\nversion: 1.0.0\nmanifests: [{name: said, path: said.yaml}]\ncharts:\n",
		"said.yaml":            configMap("said", text),
		"one/Chart.yaml":       "apiVersion: v2\nname: one\nversion: 0.1.0\n",
		"one/templates/a.yaml": configMap("one", "{{ .Release.Name }}"),
	}
	files["module.yaml"] += "- path: one\n"
	if size > 0 {
		for i, chart := range []string{"two", "three", "four"} {
			files["module.yaml"] += "- path: " + chart + "\n"
			files[chart+"/Chart.yaml"] = "apiVersion: v2\nname: " + chart + "\nversion: 0.1.0\n"
			files[chart+"/templates/a.yaml"] = configMap(chart, "{{ .Release.Name }}")
			files[chart+"/files/noise.txt"] = noise(size, i)
		}
	}
	return p.writeDir(name, files)
}

// makes creates a layout from a directory, and returns its digest.
func (p *testUser) makes(ctx context.Context, dir, output string, args ...string) string {
	GinkgoHelper()
	return p.ok(ctx, append([]string{"module", "create", dir, "-o", p.output(output)}, args...)...).digest()
}

// blobs returns the blobs of a layout in a directory, by digest. Each must match its digest, and the layout must not contain
// anything else.
func (p *testUser) blobs(layout string) map[string]string {
	GinkgoHelper()
	path := p.at(layout)
	Expect(names(path)).To(ConsistOf("oci-layout", "index.json", "blobs"))
	Expect(names(filepath.Join(path, "blobs"))).To(ConsistOf("sha256"))
	out := map[string]string{}
	for _, name := range names(filepath.Join(path, "blobs", "sha256")) {
		data := must(os.ReadFile(filepath.Join(path, "blobs", "sha256", name)))
		Expect(digestOf(data)).To(Equal("sha256:" + name))
		out["sha256:"+name] = string(data)
	}
	return out
}

// hashOf returns a hash of the names, modes and contents of a tree.
func hashOf(dir string) string {
	GinkgoHelper()
	h := sha256.New()
	Expect(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		_, _ = io.WriteString(h, rel+"\x00"+info.Mode().String()+"\x00")
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			_, _ = h.Write(data)
			return err
		}
		return nil
	})).To(Succeed())
	return hex.EncodeToString(h.Sum(nil))
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// A manifest holds the fields of an OCI manifest that these specs need.
type manifest struct {
	Config struct {
		Digest string `json:"digest"`
	} `json:"config"`
	Layers []struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
	} `json:"layers"`
}

func (m manifest) digests() []string {
	out := []string{m.Config.Digest}
	for _, l := range m.Layers {
		out = append(out, l.Digest)
	}
	return out
}

// manifestOf returns the manifest of a layout.
func (p *testUser) manifestOf(layout, digest string) manifest {
	GinkgoHelper()
	return parsed[manifest](p.blobs(layout)[digest])
}

// fetch reads a manifest or blob directly from a registry. It returns nil if it does not exist.
func fetch(ctx context.Context, r *controlplane.Registry, repository, kind, reference string) []byte {
	GinkgoHelper()
	q := must(http.NewRequestWithContext(ctx, http.MethodGet, r.URL()+"/v2/"+repository+"/"+kind+"/"+reference, nil))
	q.Header.Set("Accept", "application/vnd.oci.image.manifest.v1+json")
	resp, err := http.DefaultClient.Do(q)
	Expect(err).NotTo(HaveOccurred())
	defer resp.Body.Close()
	data := must(io.ReadAll(resp.Body))
	if resp.StatusCode == http.StatusNotFound {
		return nil
	}
	Expect(resp.StatusCode).To(Equal(http.StatusOK), string(data))
	return data
}

// content returns the manifest and blobs of a module in a registry by digest. Each must match its digest.
func content(ctx context.Context, r *controlplane.Registry, repository, reference string) map[string]string {
	GinkgoHelper()
	data := fetch(ctx, r, repository, "manifests", reference)
	Expect(data).NotTo(BeNil(), repository+" "+reference)
	out := map[string]string{digestOf(data): string(data)}
	m := parsed[manifest](string(data))
	for _, digest := range m.digests() {
		blob := fetch(ctx, r, repository, "blobs", digest)
		Expect(digestOf(blob)).To(Equal(digest))
		out[digest] = string(blob)
	}
	return out
}

// untar returns the paths and files of a gzipped layer, the paths in their order.
func untar(data string) (paths []string, files map[string]string) {
	GinkgoHelper()
	t := tar.NewReader(must(gzip.NewReader(bytes.NewReader([]byte(data)))))
	files = map[string]string{}
	for {
		h, err := t.Next()
		if err == io.EOF {
			return paths, files
		}
		Expect(err).NotTo(HaveOccurred())
		paths = append(paths, h.Name)
		files[h.Name] = string(must(io.ReadAll(t)))
	}
}

// hasKeys creates a key pair, name.key and name.pub, and returns the paths. The private key is a secret.
func (p *testUser) hasKeys(ctx context.Context, name string) (private, public string) {
	GinkgoHelper()
	prefix := filepath.Join(p.path("input"), name)
	p.ok(ctx, "module", "keygen", prefix)
	private, public = prefix+".key", prefix+".pub"
	p.keepsSecret(string(must(os.ReadFile(private))))
	return private, public
}

// keepsSecret adds all lines of a PEM file but the first and last to the secrets.
func (p *testUser) keepsSecret(text string) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if !strings.HasPrefix(line, "-----") {
			p.secrets = append(p.secrets, line)
		}
	}
}

// aKey returns a key that is generated only once, because that takes a while.
var aKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

// encoded encodes a value as JSON.
func encoded(v any) string {
	GinkgoHelper()
	return string(must(json.Marshal(v)))
}
