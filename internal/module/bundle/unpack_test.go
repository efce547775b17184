// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// TestUnpack checks that the files of a module are the same regardless of where the module is opened.
func TestUnpack(t *testing.T) {
	r := startRegistry(t)
	child := push(t, r, controlplane.Component{
		Name: "example.org/module/child", Version: "0.5.0",
		Resources: []controlplane.ComponentResource{
			{Name: "side", Type: "helm-chart", Files: nested("side", chart("side", false))},
			{Name: "notes", Type: "plainText", Data: []byte{0, 1, 2}},
		},
	})
	c := moduleOf("1.0.0")
	c.References = []controlplane.ComponentReference{{Name: "child", Component: "example.org/module/child", Version: "0.5.0", Descriptor: child.Descriptor}}
	parent := push(t, r, c)
	want := []string{
		"charts/child-side/Chart.yaml", "charts/child-side/templates/deployment.yaml", "charts/child-side/values.yaml",
		"charts/web/Chart.yaml", "charts/web/templates/deployment.yaml", "charts/web/values.yaml",
		DescriptorFile, "config.yaml", "crds/greeters.yaml", "default-cr.yaml", "manifests/raw-manifest.yaml",
		"resources/example.org/module/child/notes", "resources/moduletemplate",
	}
	for _, reference := range []string{parent.Repository + ":1.0.0", layoutOf(t, "both", parent, child), layoutOf(t, "both.tar", parent, child)} {
		got := map[string]string{}
		b := open(t, reference)
		err := Unpack(t.Context(), b, func(name string, data []byte) error {
			got[name] = string(data)
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", reference, err)
		}
		names := make([]string, 0, len(got))
		for name := range got {
			names = append(names, name)
		}
		slices.Sort(names)
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", reference, diff)
		}
		for name, data := range map[string]string{
			DescriptorFile:                             string(b.Descriptor().JSON()),
			"crds/greeters.yaml":                       greeterCRD,
			"default-cr.yaml":                          string(c.Resources[4].Data),
			"resources/moduletemplate":                 string(c.Resources[5].Data),
			"charts/web/values.yaml":                   string(chart("web", false)["values.yaml"]),
			"resources/example.org/module/child/notes": "\x00\x01\x02",
		} {
			if got[name] != data {
				t.Errorf("%s: %s: want %q, got %q", reference, name, data, got[name])
			}
		}
	}
	err := Unpack(t.Context(), open(t, layoutOf(t, "alone", parent)), func(string, []byte) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "example.org/module/child") {
		t.Errorf("want the component that is missing, got %v", err)
	}
}

// nested moves files into a directory, as in packed charts.
func nested(dir string, files controlplane.Files) controlplane.Files {
	out := controlplane.Files{}
	for name, data := range files {
		out[dir+"/"+name] = data
	}
	return out
}

func TestUnpackerPut(t *testing.T) {
	small := archive.Limits{Uncompressed: 8, Files: 2}
	cases := map[string]struct {
		reason string
		names  []string
		size   int
		want   string // Part of the error of the last file.
	}{
		"Fits":      {reason: "The limits can be reached.", names: []string{"a", "b/c"}, size: 4},
		"Files":     {reason: "There are no more files than that.", names: []string{"a", "b", "c"}, want: "exceeds the limit"},
		"Bytes":     {reason: "The number of bytes is limited.", names: []string{"a", "b"}, size: 5, want: "exceeds the limit"},
		"Twice":     {reason: "A file cannot replace another one.", names: []string{"a", "a"}, want: "two resources"},
		"Up":        {reason: "A file must not be outside of the directory.", names: []string{"resources/../../a"}, want: "is not a valid file name"},
		"Absolute":  {reason: "An absolute path is rejected.", names: []string{"/a"}, want: "is not a valid file name"},
		"Backslash": {reason: "A path with separators of another operating system is rejected.", names: []string{`resources/..\..\a`}, want: "is not a valid file name"},
		"Empty":     {reason: "A file must have a name.", names: []string{"resources/"}, want: "is not a valid file name"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var wrote int
			u := &unpacker{limits: small, seen: map[string]bool{}, write: func(string, []byte) error { wrote++; return nil }}
			var err error
			for _, name := range tc.names {
				err = u.put(name, make([]byte, tc.size))
			}
			if tc.want == "" && (err != nil || wrote != len(tc.names)) || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || wrote != len(tc.names)-1) {
				t.Errorf("\n%s\nput(...): want %q, got %v with %d files", tc.reason, tc.want, err, wrote)
			}
		})
	}
}

// TestManifest checks that a Manifest refers to all parts of a module in its future registry.
func TestManifest(t *testing.T) {
	r := startRegistry(t)
	pushed := push(t, r, moduleOf("1.0.0"))
	fromLayout := open(t, layoutOf(t, "greeter", pushed))
	if _, err := Manifest(t.Context(), fromLayout); err == nil {
		t.Error("a layout is in no registry: want an error")
	}
	fromLayout.Location = ocm.Location{BaseURL: r.Host() + "/modules", Mapping: ocm.URLPath}
	want, err := Manifest(t.Context(), open(t, pushed.Repository+":1.0.0"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Manifest(t.Context(), fromLayout)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-registry, +layout:\n%s", diff)
	}
	p := want.Spec.ForProvider
	if want.Name != "greeter" || p.Component.Digest != pushed.Digest || p.Component.Repository != r.Host()+"/modules" || p.Version != "1.0.0" ||
		len(p.Installs) != 2 || p.CRDs == nil || p.Config == nil || p.Resource == nil || len(p.Readiness) != 1 {
		t.Errorf("got %+v", want)
	}
}
