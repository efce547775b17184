// SPDX-License-Identifier: Apache-2.0

package render

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

// A tree contains the files of a chart by path.
type tree map[string]string

// with returns a copy with additional files.
func (t tree) with(more tree) tree {
	out := maps.Clone(t)
	maps.Copy(out, more)
	return out
}

// below returns a copy with all files moved into a directory.
func (t tree) below(dir string) tree {
	out := tree{}
	for name, text := range t {
		out[dir+"/"+name] = text
	}
	return out
}

func (t tree) files() []input.File {
	var out []input.File
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out = append(out, input.File{Name: name, Data: []byte(t[name])})
	}
	return out
}

// tgz packs the files in a directory, like helm package.
func (t tree) tgz(tb testing.TB, dir string) string {
	tb.Helper()
	var headers []tar.Header
	for _, f := range t.below(dir).files() {
		headers = append(headers, tar.Header{Name: f.Name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f.Data)), Linkname: string(f.Data)})
	}
	return pack1(tb, headers)
}

// pack1 packs entries whose Linkname is their content if they are files.
func pack1(tb testing.TB, headers []tar.Header) string {
	tb.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	tw := tar.NewWriter(gz)
	for _, h := range headers {
		data := h.Linkname
		if h.Typeflag == tar.TypeReg {
			h.Linkname = ""
		}
		if err := tw.WriteHeader(&h); err != nil {
			tb.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if _, err := tw.Write([]byte(data)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// chartYAML returns a Chart.yaml with apiVersion v2 and additional lines.
func chartYAML(name string, lines ...string) string {
	return strings.Join(append([]string{"apiVersion: v2", "name: " + name, "version: 1.2.3"}, lines...), "\n") + "\n"
}

// configMap returns a template that prints text in data.v.
func configMap(name, text string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata:\n  v: " + text + "\n"
}

func mustLoad(tb testing.TB, t tree) *Chart {
	tb.Helper()
	c, err := Load(t.files())
	if err != nil {
		tb.Fatalf("Load: %v", err)
	}
	return c
}

func mustRender(tb testing.TB, c *Chart, o Options) *Rendered {
	tb.Helper()
	if o.ReleaseName == "" {
		o.ReleaseName = "rel"
	}
	r, err := c.Render(tb.Context(), o)
	if err != nil {
		tb.Fatalf("Render: %v", err)
	}
	return r
}

// names returns the names of objects as Kind/name.
func names(objs []*unstructured.Unstructured) []string {
	var out []string
	for _, o := range objs {
		out = append(out, o.GetKind()+"/"+o.GetName())
	}
	return out
}

// text returns the text of an error, or "".
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
