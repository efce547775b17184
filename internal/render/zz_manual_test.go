package render

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func dirFiles(t testing.TB, dir string) []File {
	var out []File
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out = append(out, File{Name: rel, Data: b})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestManual(t *testing.T) {
	dir := os.Getenv("CHART_DIR")
	if dir == "" {
		t.Skip()
	}
	c, err := Load(dirFiles(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Render(context.Background(), Options{ReleaseName: "rel", Namespace: "nsx", KubeVersion: "v1.36.3"})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(len(r.Objects), len(r.CRDs), len(r.Hooks), r.Pure, c.Pure(), c.NeedsAPIVersions(), r.Notes)
	out, err := exec.Command("/tmp/tb/helm", "template", "rel", dir, "-n", "nsx", "--kube-version", "v1.36.3", "--no-hooks", "--include-crds").Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := Objects(out)
	if err != nil {
		t.Fatal(err)
	}
	got := append(r.CRDs, r.Objects...)
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	b, _ := json.Marshal(got)
	t.Log(len(b))
}
func BenchmarkManual(b *testing.B) {
	dir := os.Getenv("CHART_DIR")
	if dir == "" {
		b.Skip()
	}
	files := dirFiles(b, dir)
	c, err := Load(files)
	if err != nil {
		b.Fatal(err)
	}
	var r *Rendered
	b.Run("load", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = Load(files)
		}
	})
	b.Run("render", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, _ = c.Render(context.Background(), Options{ReleaseName: "rel", Namespace: "nsx", KubeVersion: "v1.36.3"})
		}
	})
	b.Run("objects", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = Objects([]byte(r.Manifest()))
		}
	})
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, _ := r.Record(RecordOptions{Revision: 1, Status: "deployed"})
			b.ReportMetric(float64(len(s.Data["release"])), "size")
		}
	})
}
