// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// TestHelmReadsOurs checks that Helm can pull, show, render and verify a chart that we push with Helm's type.
func TestHelmReadsOurs(t *testing.T) {
	r := startRegistry(t)
	path, _ := made(t, moduleYAML)
	ok(t, "module", "push", path, r.Host()+"/m")
	at := []string{"oci://" + r.Host() + "/m/charts/web", "--version", "0.1.0+b.1", "--plain-http"}

	dir := t.TempDir()
	run(t, tools.Helm, append([]string{"pull", "-d", dir, "--untar"}, at...)...)
	got, err := controlplane.ReadDir(filepath.Join(dir, "web"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(chart("web"), got); diff != "" {
		t.Errorf("helm pull: -ours, +pulled:\n%s", diff)
	}
	if got := run(t, tools.Helm, append([]string{"show", "chart"}, at...)...); !strings.Contains(got, "version: 0.1.0+b.1") {
		t.Errorf("helm show chart: got %s", got)
	}
	if got := run(t, tools.Helm, append([]string{"template", "x"}, at...)...); !strings.Contains(got, "of: web, greeting: hello") {
		t.Errorf("helm template: got %s", got)
	}
	// By its digest, as in signatures.
	var s struct {
		Charts []struct {
			Digest string `json:"digest"`
		} `json:"charts"`
	}
	out, _ := kymactl(t, 0, "module", "inspect", path, "-o", "json")
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	pinned := run(t, tools.Helm, "template", "x", "oci://"+r.Host()+"/m/charts/web@"+s.Charts[0].Digest, "--plain-http")
	if !strings.Contains(pinned, "of: web") {
		t.Errorf("helm template by digest: got %s", pinned)
	}
	// The config is the same as Helm writes.
	theirs := pushWithHelm(t, r.Host()+"/theirs", filepath.Join(moduleDir(t, moduleYAML), "web"))
	if diff := cmp.Diff(configOf(t, theirs), configOf(t, r.Host()+"/m/charts/web:0.1.0_b.1")); diff != "" {
		t.Errorf("config: -helm, +ours:\n%s", diff)
	}
}

// pushWithHelm pushes a directory with chart web, and returns its location.
func pushWithHelm(t *testing.T, base, dir string) string {
	t.Helper()
	packed := t.TempDir()
	run(t, tools.Helm, "package", dir, "-d", packed)
	found, err := filepath.Glob(filepath.Join(packed, "*.tgz"))
	if err != nil || len(found) != 1 {
		t.Fatalf("helm package: got %v, %v", found, err)
	}
	run(t, tools.Helm, "push", found[0], "oci://"+base, "--plain-http")
	return base + "/web:0.1.0_b.1"
}

func configOf(t *testing.T, reference string) string { return run(t, tools.Crane, "config", reference) }

// TestOursReadsHelm checks that modules can install charts that Helm has pushed or packed.
func TestOursReadsHelm(t *testing.T) {
	r := startRegistry(t)
	dir := filepath.Join(moduleDir(t, moduleYAML), "web")
	theirs := pushWithHelm(t, r.Host()+"/m/charts", dir)
	digest := strings.TrimSpace(run(t, tools.Crane, "digest", theirs))
	accesses := map[string]map[string]any{
		"Tag":      {"type": "ociRegistry", "imageReference": theirs},
		"Digest":   {"type": "ociArtifact", "imageReference": theirs + "@" + digest},
		"Relative": {"type": "relativeOciReference", "reference": "charts/web:0.1.0_b.1@" + digest},
		"Version":  {"type": "helmChartRepository", "helmChartRepoUrl": "oci://" + r.Host() + "/m/charts", "helmChartName": "web", "helmChartVersion": "0.1.0+b.1"},
	}
	for name, access := range accesses {
		t.Run(name, func(t *testing.T) {
			component := "example.org/module/" + strings.ToLower(name)
			p, err := r.PushComponent(t.Context(), "m", controlplane.Component{Name: component, Version: version, Resources: []controlplane.ComponentResource{
				{Name: "web", Type: "helm-chart", Access: access},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if got := objects(t, p.Repository+":"+version); !strings.Contains(got, "of: web") {
				t.Errorf("inspect: got %s", got)
			}
			if name != "Relative" {
				return
			}
			layout := filepath.Join(t.TempDir(), "layout")
			ok(t, "module", "pull", p.Repository+":"+version, "-o", layout)
			other := startRegistry(t)
			ok(t, "module", "push", layout, other.Host()+"/x")
			if got := strings.TrimSpace(run(t, tools.Crane, "digest", other.Host()+"/x/charts/web:0.1.0_b.1")); got != digest {
				t.Errorf("want the chart of Helm with digest %s, got %s", digest, got)
			}
		})
	}
	packed := t.TempDir()
	run(t, tools.Helm, "package", dir, "-d", packed)
	for _, format := range []string{"layer", "helm"} {
		path := moduleDir(t, "name: "+greeter+"\nversion: "+version+"\ncharts: [{path: web.tgz, format: "+format+"}]\n")
		data, err := os.ReadFile(filepath.Join(packed, "web-0.1.0+b.1.tgz"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(path, "web.tgz"), data)
		layout := filepath.Join(t.TempDir(), "layout")
		ok(t, "module", "create", path, "-o", layout)
		if got := objects(t, layout); !strings.Contains(got, "of: web") {
			t.Errorf("a packed chart of format %s: got %s", format, got)
		}
	}
}
