// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// TestFiles checks that the embedded chart has all files of the directory, including those whose name begins with an underscore and those
// behind the link to the CRDs.
func TestFiles(t *testing.T) {
	got, err := Files("v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{}
	for _, dir := range []string{Name, filepath.Join(Name, crdsDir)} {
		// A link at the root is followed.
		root, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Ext(p) == ".go" {
				return err
			}
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			if dir != Name {
				rel = filepath.Join(crdsDir, rel)
			}
			want[filepath.ToSlash(rel)], err = os.ReadFile(p)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	delete(want, MetadataFile)
	delete(got, MetadataFile)
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 15 {
		t.Errorf("Files(...): %d files: -want, +got:\n%s", len(want), diff)
	}
}

func TestMetadata(t *testing.T) {
	const content = "name: provider-kyma\nversion: 0.1.0\nappVersion: v0.1.0\ntype: application\n"
	type want struct {
		Version, App string
		Failed       bool
	}
	cases := map[string]struct {
		reason  string
		content string
		version string
		want    want
	}{
		"Release":     {"A chart has no leading v.", content, "v1.2.3", want{Version: "1.2.3", App: "v1.2.3"}},
		"Candidate":   {"A release candidate is a semantic version.", content, "v1.2.3-rc.1", want{Version: "1.2.3-rc.1", App: "v1.2.3-rc.1"}},
		"Build":       {"Metadata of a build is not valid in labels and tags.", content, "v1.2.3+dirty", want{Version: "1.2.3", App: "v1.2.3"}},
		"Development": {"The digits of a commit can begin with a zero.", content, "v0.0.0-0123456", want{Version: development, App: "v0.0.0-0123456"}},
		"OtherChart":  {"Another chart is refused.", "name: other", "v1.2.3", want{Failed: true}},
		"NoChart":     {"A chart without metadata is refused.", "", "v1.2.3", want{Failed: true}},
		"NotYAML":     {"Broken metadata is refused.", "name: [", "v1.2.3", want{Failed: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := Metadata([]byte(tc.content), tc.version)
			got := want{Failed: err != nil}
			if err == nil {
				var m struct{ Version, AppVersion string }
				if err := (yamlsize.Limits{}).Unmarshal(data, &m); err != nil {
					t.Fatal(err)
				}
				got.Version, got.App = m.Version, m.AppVersion
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nMetadata(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}
