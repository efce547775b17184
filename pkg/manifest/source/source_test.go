// SPDX-License-Identifier: Apache-2.0

package source

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// namesIn returns the names of the files in a layer, and its digest.
func namesIn(t *testing.T, l Layer) []string {
	t.Helper()
	c, err := l.Fetch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		out = append(out, f.Name)
	}
	return out
}

// write writes files into a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(files[name]), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPath(t *testing.T) {
	dir := t.TempDir()
	chart := controlplane.Files{"Chart.yaml": []byte("name: c\nversion: 1.0.0\napiVersion: v2\n"), "templates/a.yaml": []byte("a")}
	archive, err := chart.Archive("c")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{
		"chart/Chart.yaml": "name: c\n", "chart/templates/a.yaml": "a", "chart/.helmignore": "*.swp\n", "chart/b.swp": "b",
		"objects/a.yaml": "a", "objects/b.swp": "b",
		"c.tgz": string(archive), "one.yaml": "a", "zip": "PK\x03\x04\x00",
		"mounted/..2026/a.yaml": "a", "leaves/a.yaml": "a",
	})
	for at, to := range map[string]string{"mounted/..data": "..2026", "mounted/a.yaml": "..data/a.yaml", "leaves/b.yaml": "../one.yaml"} {
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason string
		path   string
		want   []string
		err    string
	}{
		"Chart":   {reason: "A chart is read as Helm reads it.", path: "chart", want: []string{".helmignore", "Chart.yaml", "templates/a.yaml"}},
		"Objects": {reason: "A directory without a chart is read unchanged.", path: "objects", want: []string{"a.yaml", "b.swp"}},
		"Archive": {reason: "An archive is unpacked.", path: "c.tgz", want: []string{"c/Chart.yaml", "c/templates/a.yaml"}},
		"File":    {reason: "A single file is a layer, too.", path: "one.yaml", want: []string{"layer.yaml"}},
		"Mounted": {reason: "A mounted ConfigMap has each file once.", path: "mounted", want: []string{"a.yaml"}},
		"Leaves":  {reason: "A link must not lead out of the directory.", path: "leaves", err: "b.yaml"},
		"Binary":  {reason: "A file that is neither text nor tar is refused.", path: "zip", err: "cannot read layer"},
		"Nothing": {reason: "The error names a missing path.", path: "nothing", err: "no such file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, err := Path(filepath.Join(dir, tc.path))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("\n%s\nwant an error with %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, namesIn(t, l)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFSDigest(t *testing.T) {
	digest := func(files map[string]string) string {
		fsys := fstest.MapFS{}
		for n, data := range files {
			fsys[n] = &fstest.MapFile{Data: []byte(data)}
		}
		l, err := FS(fsys)
		if err != nil {
			t.Fatal(err)
		}
		return l.Digest
	}
	base := digest(map[string]string{"a.yaml": "bc"})
	if base != digest(map[string]string{"a.yaml": "bc"}) {
		t.Error("equal files must have one digest")
	}
	for _, other := range []map[string]string{{"a.yaml": "bd"}, {"b.yaml": "bc"}, {"a.yamlb": "c"}, {"a.yaml": "bc", "b": ""}} {
		if digest(other) == base {
			t.Errorf("%v must have another digest", other)
		}
	}
}

func TestObjects(t *testing.T) {
	cm := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "typed"}}
	l, err := Objects(cm, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	cm.Name = "changed later"
	c, err := l.Fetch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, err := c.Files()
	const text = "---\n" + `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"typed"}}` + "\n---\n" +
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}` + "\n"
	want := []File{{Name: "objects.yaml", Data: []byte(text)}}
	if diff := cmp.Diff(want, files); err != nil || diff != "" {
		t.Errorf("Objects(...): %v, -want, +got:\n%s", err, diff)
	}
	if _, err := Objects(&corev1.ConfigMap{}); err == nil || err.Error() != "object at index 0 of type *v1.ConfigMap has no apiVersion and kind" {
		t.Errorf("an object without a kind must be refused, got %v", err)
	}
	if _, err := Objects([]runtime.Object{}...); err != nil {
		t.Errorf("that there is no object is found later: %v", err)
	}
}
