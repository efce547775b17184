// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"bytes"

	"encoding/json"

	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/summary"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

const moduleText = "name: " + greeter + "\nversion: 1.0.0\ncharts:\n- path: web\n  format: helm\n- path: inner\n"

// helmModule writes the directory of a module with a chart that becomes a separate artifact, and one that becomes a layer.
func helmModule(t *testing.T, version, moduleYAML string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"module.yaml": moduleYAML}
	for _, name := range []string{"web", "inner"} {
		files[name+"/Chart.yaml"] = "apiVersion: v2\nname: " + name + "\nversion: " + version + "\nannotations: {b: x, a: z}\n"
		files[name+"/templates/map.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {of: " + name + "}\n"
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func made(t *testing.T, dir string, args ...string) (path string, s summary.Module) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "made")
	r := kymactl(t, append([]string{"module", "create", dir, "-o", path, "--output-format", "json"}, args...)...).want(t, command.ExitOK, "Wrote")
	if err := json.Unmarshal([]byte(r.out), &s); err != nil {
		t.Fatal(err)
	}
	return path, s
}

func keyFiles(t *testing.T) (private, public string) {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "release")
	kymactl(t, "module", "keygen", prefix).want(t, command.ExitOK, "")
	return prefix + ".key", prefix + ".pub"
}

func tagsOf(t *testing.T, path string) []string {
	t.Helper()
	l, err := layout.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tags, err := l.Tags(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tags
}

// TestHelmCharts runs all commands for a module with a chart of Helm's own type. Commands with a layout must not need a registry.
func TestHelmCharts(t *testing.T) {
	private, public := keyFiles(t)
	dir := helmModule(t, "0.1.0+b.1", moduleText)
	path, s := made(t, dir, "--key", private)
	if len(s.Charts) != 1 || s.Charts[0].Repository != "charts/web" || s.Charts[0].Tag != "0.1.0_b.1" || s.Charts[0].Resource != "web" {
		t.Fatalf("create: want chart charts/web:0.1.0_b.1, got %+v", s.Charts)
	}
	want := []string{"1.0.0", strings.Replace(s.Digest, ":", "-", 1) + ".sig", "with-charts_web-0.1.0_b.1"}
	if diff := cmp.Diff(want, tagsOf(t, path)); diff != "" {
		t.Errorf("create: tags: -want, +got:\n%s", diff)
	}
	_, again := made(t, helmModule(t, "0.1.0+b.1", moduleText), "--key", private)
	if diff := cmp.Diff(s.Charts, again.Charts); diff != "" || again.Digest != s.Digest {
		t.Errorf("create again: want the same digests:\n%s", diff)
	}

	r := startRegistry(t, controlplane.WebOptions{})
	kymactl(t, "module", "push", path, r.Host()+"/m").want(t, command.ExitOK, "Pushed")
	if tags := remoteTags(t, r.Host()+"/m/charts/web"); !slices.Equal(tags, []string{"0.1.0_b.1"}) {
		t.Errorf("push: want the tag of the chart, got %v", tags)
	}
	r.Reset()
	kymactl(t, "module", "push", path, r.Host()+"/m").want(t, command.ExitOK, "Unchanged")
	if n := writes(r); n != 0 {
		t.Errorf("push again: want no write, got %d", n)
	}

	remote := r.Host() + "/m//" + greeter + ":1.0.0"
	other := startRegistry(t, controlplane.WebOptions{})
	kymactl(t, "module", "copy", remote, other.Host()+"/c", "--name-mapping", "sha256-digest").want(t, command.ExitOK, "Copied")
	mapped := other.Host() + "/c/" + strings.TrimPrefix(digestOf([]byte(greeter)), "sha256:") + ":1.0.0"
	directory, tar := filepath.Join(t.TempDir(), "pulled"), filepath.Join(t.TempDir(), "pulled.tar")
	kymactl(t, "module", "pull", mapped, "-o", directory).want(t, command.ExitOK, "Pulled")
	kymactl(t, "module", "copy", directory, tar).want(t, command.ExitOK, "Copied")
	if diff := cmp.Diff(blobsOf(t, path), blobsOf(t, directory)); diff != "" {
		t.Errorf("pull: blobs: -created, +pulled:\n%s", diff)
	}
	kymactl(t, "module", "pull", mapped, "-o", directory).want(t, command.ExitOK, "Unchanged")

	for _, reference := range []string{path, directory, tar, remote, mapped} {
		kymactl(t, "module", "verify", reference, "--key", public, "--cosign").want(t, command.ExitOK, "Verified")
		objects := kymactl(t, "module", "inspect", reference, "--show-objects").want(t, command.ExitOK, "")
		if !strings.Contains(objects.out, "of: web") || !strings.Contains(objects.out, "of: inner") || objects.err != "" {
			t.Errorf("inspect %s: got %s%s", reference, objects.out, objects.err)
		}
		if shown := kymactl(t, "module", "inspect", reference); strings.Contains(shown.out, "layout.invalid") {
			t.Errorf("inspect %s: an internal name is shown:\n%s", reference, shown.out)
		}
		kymactl(t, "module", "diff", path, reference, "--exit-code").want(t, command.ExitOK, "no difference")
	}
	inline := kymactl(t, "module", "template", directory, "--repository", "registry.example.org/m", "--inline").want(t, command.ExitOK, "")
	if !strings.Contains(inline.out, s.Charts[0].Digest) {
		t.Errorf("template: got %s", inline.out)
	}
	// Without --repository, template names the registry from which it read the module.
	kymactl(t, "module", "template", remote).want(t, command.ExitOK, "")
}

func remoteTags(t *testing.T, repository string) []string {
	t.Helper()
	s, err := remote.New(repository, nil)
	if err != nil {
		t.Fatal(err)
	}
	tags, err := s.Tags(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tags
}

// TestHelmChartExists checks that an existing version of a chart is not replaced, and that the module is not pushed then.
func TestHelmChartExists(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	one, _ := made(t, helmModule(t, "0.1.0", moduleText))
	kymactl(t, "module", "push", one, r.Host()+"/m").want(t, command.ExitOK, "")
	dir := helmModule(t, "0.1.0", strings.Replace(moduleText, "1.0.0", "1.0.1", 1))
	if err := os.WriteFile(filepath.Join(dir, "web", "values.yaml"), []byte("a: b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	two, s := made(t, dir)
	r.Reset()
	kymactl(t, "module", "push", two, r.Host()+"/m").want(t, command.ExitExists, "charts/web:0.1.0")
	if n := writes(r); n != 0 {
		t.Errorf("push of a chart with other content: want no write, got %d", n)
	}
	kymactl(t, "module", "push", two, r.Host()+"/m", "--overwrite").want(t, command.ExitOK, "Pushed")
	// create replaces the previous module with its chart.
	kymactl(t, "module", "create", dir, "-o", one).want(t, command.ExitOK, "Wrote")
	if diff := cmp.Diff(blobsOf(t, two), blobsOf(t, one)); diff != "" {
		t.Errorf("create over another one: blobs: -want, +got:\n%s", diff)
	}
	var have summary.Module
	if err := json.Unmarshal([]byte(kymactl(t, "module", "inspect", one, "-o", "json").out), &have); err != nil || have.Digest != s.Digest {
		t.Errorf("create over another one: want %s, got %s (%v)", s.Digest, have.Digest, err)
	}
}

// TestHelmChartChanged checks that the content of charts in a layout is verified.
func TestHelmChartChanged(t *testing.T) {
	private, public := keyFiles(t)
	path, s := made(t, helmModule(t, "0.1.0", moduleText))
	kymactl(t, "module", "sign", path, "--key", private).want(t, command.ExitOK, "Signed")
	kymactl(t, "module", "verify", path, "--key", public).want(t, command.ExitOK, "Verified")
	l, err := layout.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	data, _, err := l.Manifest(t.Context(), s.Charts[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Layers []struct {
			Digest string `json:"digest"`
		} `json:"layers"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	blob := filepath.Join(path, "blobs", "sha256", strings.TrimPrefix(m.Layers[0].Digest, "sha256:"))
	archive, err := os.ReadFile(blob)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blob, bytes.Replace(archive, archive[20:21], []byte{archive[20] ^ 1}, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	kymactl(t, "module", "verify", path, "--key", public).want(t, command.ExitUnverified, "install web")
	if err := os.Remove(blob); err != nil {
		t.Fatal(err)
	}
	kymactl(t, "module", "verify", path, "--key", public).want(t, command.ExitUnverified, "install web")
}

// TestHelmChartFrom checks that a module that is built on another one includes its charts.
func TestHelmChartFrom(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	base, s := made(t, helmModule(t, "0.1.0", moduleText))
	kymactl(t, "module", "push", base, r.Host()+"/m").want(t, command.ExitOK, "")
	more := t.TempDir()
	if err := os.WriteFile(filepath.Join(more, "more.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{base, r.Host() + "/m//" + greeter + ":1.0.0"} {
		path, got := made(t, more, "--from", from, "--version", "1.1.0")
		if diff := cmp.Diff(s.Charts, got.Charts); diff != "" {
			t.Errorf("--from %s: charts: -base, +made:\n%s", from, diff)
		}
		objects := kymactl(t, "module", "inspect", path, "--show-objects").want(t, command.ExitOK, "")
		for _, name := range []string{"of: web", "of: inner", "name: more"} {
			if !strings.Contains(objects.out, name) {
				t.Errorf("--from %s: want %q, got %s%s", from, name, objects.out, objects.err)
			}
		}
	}
}

// TestHelmChartMissing checks that a missing chart in a layout causes a warning, and that the module can be pushed if the registry
// has the chart.
func TestHelmChartMissing(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	path, s := made(t, helmModule(t, "0.1.0", moduleText))
	kymactl(t, "module", "push", path, r.Host()+"/m").want(t, command.ExitOK, "")
	l, err := layout.Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Prune(t.Context(), s.Digest); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	kymactl(t, "module", "inspect", path, "--show-objects").want(t, command.ExitOK, "install web is omitted: ")
	kymactl(t, "module", "push", path, r.Host()+"/m").want(t, command.ExitOK, "Warning: chart charts/web:0.1.0@sha256:")
}

func TestHelmChartRefused(t *testing.T) {
	cases := map[string]struct {
		reason, chart, moduleYAML, want string
	}{
		"Name": {
			reason: "A repository must be in lowercase.", chart: "apiVersion: v2\nname: Web\nversion: 0.1.0\n",
			moduleYAML: strings.Replace(moduleText, "format: helm", "format: helm\n  name: web", 1), want: `charts[0]: chart "Web"`,
		},
		"Format": {
			reason: "The format must be one of two values.", chart: "apiVersion: v2\nname: web\nversion: 0.1.0\n",
			moduleYAML: strings.Replace(moduleText, "format: helm", "format: oci", 1), want: `charts[0].format: invalid value "oci": must be layer or helm`,
		},
		"Twice": {
			reason: "A version must always have the same content.", chart: "apiVersion: v2\nname: inner\nversion: 0.1.0\n",
			moduleYAML: strings.Replace(moduleText, "- path: inner", "- path: inner\n  name: second\n  format: helm", 1),
			want:       "two charts with different content would be pushed as charts/inner:0.1.0",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := helmModule(t, "0.1.0", tc.moduleYAML)
			if err := os.WriteFile(filepath.Join(dir, "web", "Chart.yaml"), []byte(tc.chart), 0o600); err != nil {
				t.Fatal(err)
			}
			kymactl(t, "module", "create", dir, "--dry-run").want(t, command.ExitFailure, tc.want)
		})
	}
}

// TestForeignRelative checks that copying a module cannot write to repositories of other owners.
func TestForeignRelative(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	pushed, err := r.PushChart(t.Context(), "m/component-descriptors/example.org", controlplane.Files{"Chart.yaml": []byte("apiVersion: v2\nname: victim\nversion: 1.0.0\n")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.PushComponent(t.Context(), "m", controlplane.Component{Name: greeter, Version: "1.0.0", Resources: []controlplane.ComponentResource{{
		Name: "evil", Type: "helm-chart",
		Access: map[string]any{"type": "relativeOciReference", "reference": "component-descriptors/example.org/victim:1.0.0@" + pushed.Manifest},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	other := startRegistry(t, controlplane.WebOptions{})
	kymactl(t, "module", "copy", r.Host()+"/m//"+greeter+":1.0.0", other.Host()+"/m").want(t, command.ExitOK, "is not copied")
	for _, q := range other.Requests() {
		if q.Method != http.MethodGet && strings.Contains(q.Path, "victim") {
			t.Errorf("a repository of another owner was written: %s %s", q.Method, q.Path)
		}
	}
}
