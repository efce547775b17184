// SPDX-License-Identifier: Apache-2.0

package build

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/pack"
)

// update rewrites the golden digests. This changes the digests of all users' modules, so there must be a good reason.
var update = flag.Bool("update", false, "write the golden files")

// fixtures lists directories in testdata, with fields that are missing in their module.yaml.
func fixtures() map[string]definition.Definition {
	return map[string]definition.Definition{
		"chart":       {Name: "example.org/module/greeter"},
		"plain":       {Name: "kyma-project.io/module/template-operator", Version: "1.0.5"},
		"kubebuilder": {Version: "0.1.0"},
		"full":        {},
		"helm":        {},
	}
}

func complete(t *testing.T, fsys fs.FS, over definition.Definition) *definition.Definition {
	t.Helper()
	var d *definition.Definition
	data, err := fs.ReadFile(fsys, definition.FileName)
	if err == nil {
		d, err = definition.Parse(data)
	} else if found, ferr := definition.Detect(fsys); ferr == nil {
		d, err = found.Definition, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if over.Name != "" {
		d.Name = over.Name
	}
	if over.Version != "" {
		d.Version = over.Version
	}
	return d
}

func build(t *testing.T, fsys fs.FS, over definition.Definition) (*Module, *Artifact) {
	t.Helper()
	return buildOf(t, complete(t, fsys, over), fsys)
}

// describe returns the digest and the content of a module in readable form.
func describe(m *Module, a *Artifact) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n%s %s\n", a.Digest, m.Descriptor.Name(), m.Descriptor.Version())
	for _, r := range m.Descriptor.Resources() {
		fmt.Fprintf(&out, "%s %s %s %s\n", r.Name, r.Type, r.Access.MediaType, r.Access.Digest)
		for i := range m.Layers {
			if m.Layers[i].Digest != r.Access.Digest {
				continue
			}
			files, err := archive.ReadLayer(m.Layers[i].Data, archive.Limits{})
			if err != nil {
				fmt.Fprintf(&out, "  %s\n", err)
			}
			for _, f := range files {
				fmt.Fprintf(&out, "  %s\n", f.Name)
			}
		}
	}
	for _, c := range m.Charts {
		fmt.Fprintf(&out, "%s\n%s\n%s\n", c.Reference(), c.Manifest, c.Layers[0].Data)
	}
	for _, w := range m.Warnings {
		fmt.Fprintf(&out, "Warning: %s\n", w)
	}
	return out.String()
}

// TestGolden checks the digests of modules: the same input must always result in the same module. If a digest changes, users
// must be informed.
func TestGolden(t *testing.T) {
	for name, over := range fixtures() {
		t.Run(name, func(t *testing.T) {
			got := describe(build(t, os.DirFS(filepath.Join("testdata", name)), over))
			golden := filepath.Join("testdata", "golden", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// shuffled lists directories in a different order.
type shuffled struct{ fs.FS }

func (s shuffled) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(s.FS, name)
	slices.Reverse(entries)
	return entries, err
}

// TestDeterminism checks that only the names and contents of files affect a module.
func TestDeterminism(t *testing.T) {
	for name, over := range fixtures() {
		t.Run(name, func(t *testing.T) {
			source := os.DirFS(filepath.Join("testdata", name))
			_, want := build(t, source, over)

			clone := filepath.Join(t.TempDir(), "another name")
			if err := os.CopyFS(clone, source); err != nil {
				t.Fatal(err)
			}
			err := filepath.WalkDir(clone, func(p string, e fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				mode := fs.FileMode(0o600)
				if e.IsDir() {
					mode = 0o700
				}
				return errors.Join(os.Chmod(p, mode), os.Chtimes(p, time.Now(), time.Unix(int64(len(p))*1e6, 0)))
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, junk := range []string{".DS_Store", "._a.yaml", ".git/config"} {
				if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(clone, junk)), 0o700),
					os.WriteFile(filepath.Join(clone, junk), []byte("x"), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			root, err := os.OpenRoot(clone)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			if _, got := build(t, shuffled{root.FS()}, over); got.Digest != want.Digest {
				t.Errorf("a copy has digest %s, want %s", got.Digest, want.Digest)
			}
		})
	}
}

// TestConcurrent builds the same module concurrently.
func TestConcurrent(t *testing.T) {
	fsys := os.DirFS("testdata/full")
	d := complete(t, fsys, definition.Definition{})
	var mu sync.Mutex
	digests := map[string]int{}
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			m, err := Build(t.Context(), d, fsys)
			if err != nil {
				t.Error(err)
				return
			}
			a, err := m.Artifact(m.Descriptor)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			digests[a.Digest]++
		})
	}
	wg.Wait()
	if len(digests) != 1 {
		t.Errorf("digests: %v", digests)
	}
}

// TestPackedChart checks that a packed chart results in the same layer as its directory, regardless of the user and the time.
func TestPackedChart(t *testing.T) {
	files, err := pack.Chart(os.DirFS("testdata/chart"), ".")
	if err != nil {
		t.Fatal(err)
	}
	over := definition.Definition{Name: "example.org/module/greeter", Version: "0.3.0", Charts: []definition.Chart{{Path: "."}}}
	_, want := build(t, os.DirFS("testdata/chart"), over)
	for _, top := range []string{"", "greeter/"} {
		in := slices.Clone(files)
		for i := range in {
			in[i].Name = top + in[i].Name
		}
		data, err := pack.Archive(in)
		if err != nil {
			t.Fatal(err)
		}
		over.Charts[0].Path = "greeter-0.3.0.tgz"
		m, err := Build(t.Context(), &over, fstest.MapFS{"greeter-0.3.0.tgz": {Data: data}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Artifact(m.Descriptor); err != nil || got.Digest != want.Digest {
			t.Errorf("packed as %qChart.yaml: want %s, got %v, %v", top, want.Digest, got, err)
		}
	}
}

func TestErrors(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
	base := map[string]string{
		"c/Chart.yaml": "apiVersion: v2\nname: greeter\nversion: 1.0.0\n", "c/templates/a.yaml": fmt.Sprintf(object, "a"),
		"a.yaml": fmt.Sprintf(object, "a"), "sub/a.yaml": fmt.Sprintf(object, "b"),
	}
	cases := map[string]struct {
		reason string
		files  map[string]string
		d      definition.Definition
		want   string
	}{
		"Nothing":       {reason: "A module must install something.", want: "the module is empty"},
		"Invalid":       {reason: "A definition must be valid.", d: definition.Definition{Channel: "A"}, want: "channel: invalid value"},
		"NoChart":       {reason: "A chart must exist.", d: definition.Definition{Charts: []definition.Chart{{Path: "nothing"}}}, want: "charts[0]: nothing: no such file or directory"},
		"NotChart":      {reason: "The path of a chart must contain a chart.", d: definition.Definition{Charts: []definition.Chart{{Path: "sub"}}}, want: "charts[0]: sub: not a chart"},
		"Dependency":    {reason: "Dependencies of charts are not downloaded.", files: map[string]string{"c/Chart.yaml": "apiVersion: v2\nname: greeter\nversion: 1.0.0\ndependencies: [{name: redis, version: 1.0.0, repository: https://example.org}]\n"}, d: definition.Definition{Charts: []definition.Chart{{Path: "c"}}}, want: `charts[0]: c: chart "greeter": dependencies declared in Chart.yaml are missing in charts/: redis`},
		"ChartName":     {reason: "A chart may have a name that no install can have.", files: map[string]string{"c/Chart.yaml": "apiVersion: v2\nname: crds\nversion: 1.0.0\n"}, d: definition.Definition{Charts: []definition.Chart{{Path: "c"}}}, want: `charts[0]: the name of the chart, "crds", is reserved: set charts[0].name`},
		"SameChart":     {reason: "One chart twice needs two names.", d: definition.Definition{Charts: []definition.Chart{{Path: "c"}, {Path: "c"}}}, want: `charts[1]: duplicate install name "greeter": set charts[1].name`},
		"SameManifest":  {reason: "Files of one name need two names.", d: definition.Definition{Manifests: []definition.Manifest{{Path: "a.yaml"}, {Path: "sub/a.yaml"}}}, want: `manifests[0]: set manifests[0].name: invalid install name "a"`},
		"Template":      {reason: "A chart must render.", files: map[string]string{"c/templates/a.yaml": "{{ fail \"no\" }}"}, d: definition.Definition{Charts: []definition.Chart{{Path: "c"}}}, want: `install "greeter"`},
		"YAML":          {reason: "YAML holds objects, and the file is named.", files: map[string]string{"sub/a.yaml": "a: b\n"}, d: definition.Definition{Manifests: []definition.Manifest{{Path: "sub"}}}, want: `install "raw-manifest": sub/a.yaml: apiVersion is missing`},
		"Kustomization": {reason: "A kustomization is not an object.", files: map[string]string{"sub/kustomization.yaml": "resources: []"}, d: definition.Definition{Manifests: []definition.Manifest{{Path: "sub"}}}, want: "sub/kustomization.yaml: a kustomization is not an object to install: list its directory under kustomizations"},
		"NoYAML":        {reason: "A directory without YAML is a mistake.", files: map[string]string{"docs/a.md": "x"}, d: definition.Definition{Manifests: []definition.Manifest{{Path: "docs"}}}, want: "manifests[0]: docs: no .yaml, .yml or .json files found"},
		"NoKustomize":   {reason: "The path of a kustomization must contain a kustomization.", d: definition.Definition{Kustomizations: []definition.Kustomization{{Path: "sub"}}}, want: "kustomizations[0]: sub: no kustomization.yaml found in this directory"},
		"RemoteBase":    {reason: "Remote bases are not downloaded.", files: map[string]string{"sub/kustomization.yaml": "resources: [https://example.org/a.yaml]"}, d: definition.Definition{Kustomizations: []definition.Kustomization{{Path: "sub"}}}, want: "https://example.org/a.yaml"},
		"ConfigName": {
			reason: "Each entry of the config must name an install.",
			d:      definition.Definition{Charts: []definition.Chart{{Path: "c"}}, Config: &definition.Config{Configs: []definition.ConfigEntry{{Name: "other"}}}},
			want:   `config: entry "other" does not match any install`,
		},
		"ConfigText": {reason: "The config file must be readable.", files: map[string]string{"conf.yaml": "configs: a"}, d: definition.Definition{Charts: []definition.Chart{{Path: "c"}}, Config: &definition.Config{Path: "conf.yaml"}}, want: "config: configs must not be of type string"},
		"CR":         {reason: "A default custom resource is one object.", files: map[string]string{"cr.yaml": "a: b"}, d: definition.Definition{Charts: []definition.Chart{{Path: "c"}}, DefaultCustomResource: "cr.yaml"}, want: "defaultCustomResource: cr.yaml: the object has no apiVersion"},
		"CRDs":       {reason: "A file of CRDs has CRDs.", d: definition.Definition{CRDs: []string{"a.yaml"}}, want: "a.yaml"},
		"Rule":       {reason: "A readiness rule must compile.", d: definition.Definition{Charts: []definition.Chart{{Path: "c"}}}, want: "readiness"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(base)
			maps.Copy(files, tc.files)
			fsys := fstest.MapFS{}
			for n, text := range files {
				fsys[n] = &fstest.MapFile{Data: []byte(text)}
			}
			d := tc.d
			d.Name, d.Version = "example.org/module/greeter", "1.0.0"
			if tc.want == "readiness" {
				d.Readiness = append(d.Readiness, complete(t, os.DirFS("testdata/full"), definition.Definition{}).Readiness...)
				d.Readiness[0].CEL = "object.("
			}
			_, err := Build(t.Context(), &d, fsys)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("\n%s\nBuild(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	fsys := os.DirFS("testdata/kubebuilder")
	found, err := definition.Detect(fsys)
	if err != nil {
		b.Fatal(err)
	}
	found.Version = "1.0.0"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Build(b.Context(), found.Definition, fsys); err != nil {
			b.Fatal(err)
		}
	}
}
