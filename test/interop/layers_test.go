// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// layerOf returns a layer of a manifest, after the descriptor.
func layerOf(t *testing.T, reference string, i int) string {
	t.Helper()
	var m struct {
		Layers []struct {
			Digest string `json:"digest"`
		} `json:"layers"`
	}
	if err := json.Unmarshal([]byte(run(t, tools.Crane, "manifest", reference)), &m); err != nil {
		t.Fatal(err)
	}
	return m.Layers[i].Digest
}

// get fetches a blob in the same way as Kyma's operators: by the digest of the layer, without a manifest.
func get(t *testing.T, repo, name, digest string) io.ReadCloser {
	t.Helper()
	host, path, _ := strings.Cut(repo, "/")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/v2/"+path+"/"+name+"/blobs/"+digest, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", req.URL, resp.Status)
	}
	return resp.Body
}

// TestOperatorsReadOurs checks that the descriptor contains everything that an operator of Kyma needs to install a layer:
// charts have Chart.yaml at the root, each directory is in the archive once and before its content, and plain YAML is not
// compressed.
func TestOperatorsReadOurs(t *testing.T) {
	r := startRegistry(t)
	path, _ := made(t, moduleYAML+"config: {configs: [{name: inner, clientConfig: Namespace=x}]}\n")
	ok(t, "module", "push", path, r.Host()+"/m")
	out, _ := kymactl(t, 0, "module", "inspect", r.Host()+"/m//"+module, "--descriptor")
	var d struct {
		Component struct {
			Name      string `json:"name"`
			Resources []struct {
				Name   string `json:"name"`
				Type   string `json:"type"`
				Access struct {
					Type, Digest string
				} `json:"access"`
			} `json:"resources"`
		} `json:"component"`
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, resource := range d.Component.Resources {
		if resource.Access.Type != "localOciBlob" {
			continue
		}
		seen[resource.Name] = true
		body := get(t, r.Host()+"/m/component-descriptors", d.Component.Name, resource.Access.Digest)
		defer body.Close()
		if resource.Type != "helm-chart" {
			data, err := io.ReadAll(body)
			if err != nil || !strings.Contains(string(data), ":") || bytes.ContainsRune(data, 0) {
				t.Errorf("%s: want plain YAML, got %q, %v", resource.Name, data, err)
			}
			continue
		}
		if diff := cmp.Diff(chart("inner"), unpack(t, body)); diff != "" {
			t.Errorf("%s: -made of, +unpacked:\n%s", resource.Name, diff)
		}
	}
	for _, name := range []string{"inner", "config", "raw-manifest"} {
		if !seen[name] {
			t.Errorf("no layer %s", name)
		}
	}
}

// unpack unpacks an archive as strictly as the operators did.
func unpack(t *testing.T, r io.Reader) controlplane.Files {
	t.Helper()
	dir := t.TempDir()
	z, err := gzip.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	for a := tar.NewReader(z); ; {
		h, err := a.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.FromSlash(h.Name))
		switch h.Typeflag {
		case tar.TypeDir:
			// It is an error if the directory exists.
			if err := os.Mkdir(to, 0o700); err != nil {
				t.Fatal(err)
			}
		case tar.TypeReg:
			data, err := io.ReadAll(a)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, data, 0o600); err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatalf("%s is of type %c", h.Name, h.Typeflag)
		}
	}
	files, err := controlplane.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
