// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

func chart() Files {
	return Files{
		"Chart.yaml":             []byte("apiVersion: v2\nname: x\nversion: 1.2.3+build\n"),
		"templates/configs.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"),
	}
}

// run runs a built tool and returns its output.
func run(t *testing.T, tool tools.Tool, args ...string) (string, error) {
	t.Helper()
	path, err := tools.Path(t.Context(), tool)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	home := t.TempDir()
	cmd.Env = []string{"HOME=" + home, "XDG_CACHE_HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home}
	cmd.Dir = home
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func writeFile(t *testing.T, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestRegistry checks that third-party clients, Helm and crane, can read pushed content.
func TestRegistry(t *testing.T) {
	cases := map[string]struct {
		reason  string
		options WebOptions
	}{
		"Plain":  {reason: "Without options everyone may read over http."},
		"Secret": {reason: "With a password and TLS, both are needed.", options: WebOptions{TLS: true, Username: "u", Password: "p"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := StartRegistry(tc.options)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Stop()
			pushed, err := r.PushChart(t.Context(), "charts", chart())
			if err != nil {
				t.Fatal(err)
			}
			access := []string{"--plain-http"}
			if tc.options.TLS {
				access = []string{"--ca-file=" + writeFile(t, r.CA()), "--username=u", "--password=p"}
				if out, err := run(t, tools.Helm, "show", "chart", "oci://"+pushed.Repository, access[0]); err == nil {
					t.Errorf("%s: helm reads without a password: %s", tc.reason, out)
				}
			}
			out, err := run(t, tools.Helm, append([]string{"show", "chart", "oci://" + pushed.Repository, "--version=1.2.3+build"}, access...)...)
			if err != nil || !strings.Contains(out, "version: 1.2.3+build") || !strings.Contains(out, pushed.Manifest) {
				t.Errorf("%s: helm show chart: %v: %s", tc.reason, err, out)
			}
		})
	}
}

func TestModuleLayer(t *testing.T) {
	r, err := StartRegistry(WebOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	pushed, err := r.PushModule(t.Context(), "component-descriptors/example.org/x", chart())
	if err != nil {
		t.Fatal(err)
	}
	want, err := chart().Archive("")
	if err != nil {
		t.Fatal(err)
	}
	r.Reset()
	got, err := run(t, tools.Crane, "blob", pushed.Repository+"@"+pushed.Layer)
	if err != nil || !bytes.Equal([]byte(got), want) {
		t.Errorf("crane blob: %v: got %d bytes, want %d", err, len(got), len(want))
	}
	last := r.Requests()[len(r.Requests())-1]
	path := "/v2/component-descriptors/example.org/x/blobs/" + pushed.Layer
	if diff := cmp.Diff(Request{Method: http.MethodGet, Path: path}, last); diff != "" {
		t.Errorf("the last request: -want, +got:\n%s", diff)
	}
	r.SetFault(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusTeapot)
		return true
	})
	if _, err := run(t, tools.Crane, "blob", pushed.Repository+"@"+pushed.Layer); err == nil {
		t.Error("a fault does not reach the client")
	}
}

func TestChartRepository(t *testing.T) {
	r, err := StartChartRepository(WebOptions{Username: "u", Password: "p"}, chart())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	out, err := run(t, tools.Helm, "show", "chart", "x", "--repo="+r.URL(), "--version=1.2.3+build", "--username=u", "--password=p")
	if err != nil || !strings.Contains(out, "version: 1.2.3+build") {
		t.Errorf("helm show chart: %v: %s", err, out)
	}
}

func TestArchiveIsReproducible(t *testing.T) {
	digest := func() string {
		data, err := chart().Archive("x")
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:])
	}
	if a, b := digest(), digest(); a != b {
		t.Errorf("the same files make %s and %s", a, b)
	}
}

func TestReadDir(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "c"), []byte("d"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Files{"a/b/c": []byte("d")}, got); diff != "" {
		t.Errorf("ReadDir: -want, +got:\n%s", diff)
	}
}
