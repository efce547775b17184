// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

func remoteOf(t *testing.T, r *controlplane.Registry, component string) store.Store {
	t.Helper()
	s, err := remote.New(r.Host()+"/m/component-descriptors/"+component, oci.Registries(nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPullRollback checks that an older signed version is not pulled instead of the
// requested one.
func TestPullRollback(t *testing.T) {
	k := newPair(t)
	r := startRegistry(t, controlplane.WebOptions{})
	s := remoteOf(t, r, greeter)
	put(t, s, ocm.Component{Name: greeter, Version: "0.9.0"}, "1.0.0", k.signer, []byte(plainYAML))
	to := filepath.Join(t.TempDir(), "layout")
	ref := r.Host() + "/m/component-descriptors/" + greeter + ":1.0.0"
	kymactl(t, "module", "pull", ref, "--key", k.pub, "-o", to).want(t, command.ExitUnverified, "tag 1.0.0 refers to version 0.9.0")
	if _, err := os.Stat(to); err == nil {
		t.Error("pull: want nothing written")
	}
}

// TestPullMovedReference checks that exactly the verified content is pulled, also of
// referenced components, even if the registry changes its answers.
func TestPullMovedReference(t *testing.T) {
	k := newPair(t)
	layout, _ := sample{library: true, key: k.signer}.layout(t)
	r := startRegistry(t, controlplane.WebOptions{})
	kymactl(t, "module", "push", layout, r.Host()+"/m").want(t, command.ExitOK, "")
	evil := []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: evil}}")
	put(t, remoteOf(t, r, library), ocm.Component{Name: library, Version: "0.1.0"}, "evil", nil, evil)
	moved := "/m/component-descriptors/" + library + "/manifests/"
	ref := r.Host() + "/m/component-descriptors/" + greeter + ":1.0.0"
	for honest := range int64(6) {
		var asked atomic.Int64
		r.SetFault(func(_ http.ResponseWriter, q *http.Request) bool {
			if strings.HasSuffix(q.URL.Path, moved+"0.1.0") && asked.Add(1) > honest {
				q.URL.Path = "/v2" + moved + "evil"
			}
			return false
		})
		to := filepath.Join(t.TempDir(), "layout")
		got := kymactl(t, "module", "pull", ref, "--key", k.pub, "-o", to)
		if got.code != command.ExitOK {
			got.want(t, command.ExitUnverified, "")
			continue
		}
		for name := range blobsOf(t, to) {
			data, err := os.ReadFile(filepath.Join(to, "blobs", "sha256", name))
			if err != nil || bytes.Contains(data, []byte("name: evil")) {
				t.Errorf("pull after %d honest answers: unverified content was written: %v", honest, err)
			}
		}
	}
}

// TestCreateLinkToKey checks that links in the source cannot make the signing key part
// of a module.
func TestCreateLinkToKey(t *testing.T) {
	k := newPair(t)
	secret, err := os.ReadFile(k.key)
	if err != nil {
		t.Fatal(err)
	}
	for name, link := range map[string]func(old, path string) error{"Symbolic": os.Symlink, "Hard": os.Link} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, data := range map[string]string{
				"release.key":                 string(secret),
				"chart/Chart.yaml":            "apiVersion: v2\nname: web\nversion: 0.1.0\n",
				"chart/templates/config.yaml": plainYAML,
				"module.yaml":                 "name: " + greeter + "\nversion: 1.0.0\ncharts: [{path: chart}]\n",
			} {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			old := "../release.key"
			if name == "Hard" {
				old = filepath.Join(dir, "release.key")
			}
			if err := link(old, filepath.Join(dir, "chart", "notes.txt")); err != nil {
				t.Fatal(err)
			}
			got := kymactl(t, "module", "create", dir, "-o", filepath.Join(t.TempDir(), "layout"), "--key", filepath.Join(dir, "release.key"))
			got.want(t, command.ExitFailure, "chart/notes.txt")
		})
	}
}

// TestLayoutPin checks that the text after @ is only accepted as a digest, and not as
// a name in the layout.
func TestLayoutPin(t *testing.T) {
	layout, digest := sample{}.layout(t)
	index := filepath.Join(layout, "index.json")
	data, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	upper := "sha256:" + strings.Repeat("A", 64)
	data = bytes.Replace(data, []byte(`"org.opencontainers.image.ref.name":"1.0.0"`), []byte(`"org.opencontainers.image.ref.name":"`+upper+`"`), 1)
	if err := os.WriteFile(index, data, 0o600); err != nil {
		t.Fatal(err)
	}
	kymactl(t, "module", "inspect", layout+"@"+digest).want(t, command.ExitOK, "")
	for _, pin := range []string{upper, "sha256:aa", "1.0.0", ""} {
		kymactl(t, "module", "inspect", layout+"@"+pin).want(t, command.ExitUsage, "digest")
	}
}

// TestWriteToDevice checks that a device is written to, and not replaced.
func TestWriteToDevice(t *testing.T) {
	layout, _ := sample{}.layout(t)
	out := filepath.Join(t.TempDir(), "null")
	if err := os.Symlink(os.DevNull, out); err != nil {
		t.Fatal(err)
	}
	kymactl(t, "module", "template", layout, "--repository", "registry.example.org/m", "-o", out).want(t, command.ExitOK, "")
	if info, err := os.Stat(out); err != nil || info.Mode().IsRegular() {
		t.Errorf("template: the device is gone: %v", err)
	}
}

// TestKeyIsBounded checks that all commands refuse files that are too large to be a key.
func TestKeyIsBounded(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 64<<10+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"sign", "layout"}, {"verify", "layout"}, {"pull", "registry.example.org/a//b:1.0.0"}, {"create", "--dry-run"},
	} {
		kymactl(t, append(append([]string{"module"}, args...), "--key", large)...).want(t, command.ExitUsage, "larger than 65536 bytes")
	}
}
