// SPDX-License-Identifier: Apache-2.0

package render

import (
	"archive/tar"
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
)

func TestLoad(t *testing.T) {
	app := tree{"Chart.yaml": chartYAML("app", "appVersion: v9"), "templates/a.yaml": configMap("a", "x")}
	child := tree{"Chart.yaml": chartYAML("child"), "templates/c.yaml": configMap("c", "x")}
	needs := tree{"Chart.yaml": chartYAML("app", "dependencies: [{name: child, version: 1.2.3}]")}
	link := pack1(t, []tar.Header{{Name: "child/templates/x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}})
	out := pack1(t, []tar.Header{{Name: "child/../../x", Typeflag: tar.TypeReg}})
	abs := pack1(t, []tar.Header{{Name: "child//etc/x", Typeflag: tar.TypeReg}})

	nested := child.tgz(t, "child")
	for range maxArchiveDepth {
		nested = tree{"Chart.yaml": chartYAML("child"), "charts/child.tgz": nested}.tgz(t, "child")
	}

	type want struct {
		Name, Version, AppVersion string
		Err                       string
	}
	cases := map[string]struct {
		reason string
		files  tree
		opts   []LoadOption
		want   want
	}{
		"Root": {
			reason: "Layers of Kyma modules have Chart.yaml at the root.",
			files:  app,
			want:   want{Name: "app", Version: "1.2.3", AppVersion: "v9"},
		},
		"OneDown": {
			reason: "Archives of Helm have one directory; other files do not belong to the chart.",
			files:  app.below("whatever").with(tree{"._whatever": "x", "README": "x"}),
			want:   want{Name: "app", Version: "1.2.3", AppVersion: "v9"},
		},
		"RootWins": {
			reason: "If Chart.yaml is at the root, a directory with another chart is an ordinary directory.",
			files:  app.with(child.below("other")),
			want:   want{Name: "app", Version: "1.2.3", AppVersion: "v9"},
		},
		"NoChart": {
			reason: "Anything else is not a chart.",
			files:  tree{"README.md": "x", "a/b/Chart.yaml": chartYAML("app")},
			want:   want{Err: "not a chart: no Chart.yaml found in the root directory of the archive or in a directory below it"},
		},
		"TwoCharts": {
			reason: "An archive with two charts is ambiguous.",
			files:  app.below("a").with(child.below("b")),
			want:   want{Err: "not a chart: more than one directory in the archive contains a Chart.yaml"},
		},
		"NoName": {
			reason: "Helm's validation of metadata applies.",
			files:  tree{"Chart.yaml": "apiVersion: v2\nversion: 1.0.0\n"},
			want:   want{Err: `chart "": validation: chart.metadata.name is required`},
		},
		"Malformed": {
			reason: "The error for invalid YAML in the metadata is a single line.",
			files:  tree{"x/Chart.yaml": "a: b: c"},
			want:   want{Err: `chart "": cannot load Chart.yaml: error converting YAML to JSON: yaml: mapping values are not allowed in this context`},
		},
		"Library": {
			reason: "A library chart cannot be installed.",
			files:  tree{"Chart.yaml": chartYAML("lib", "type: library")},
			want:   want{Err: `chart "lib": library charts are not installable`},
		},
		"MissingDependency": {
			reason: "As in Helm, declared dependencies must exist.",
			files:  needs,
			want:   want{Err: `chart "app": dependencies declared in Chart.yaml are missing in charts/: child`},
		},
		"DependencyArchive": {
			reason: "Dependencies may be packed.",
			files:  needs.with(tree{"charts/child-1.2.3.tgz": child.tgz(t, "child")}),
			want:   want{Name: "app", Version: "1.2.3"},
		},
		"DependencyDir": {
			reason: "Dependencies may be directories, with archives in them.",
			files:  needs.with(child.below("charts/child")).with(tree{"charts/child/charts/x.tgz": child.tgz(t, "y")}),
			want:   want{Name: "app", Version: "1.2.3"},
		},
		"DependencyLink": {
			reason: "Links are rejected, because they could refer to files outside of the chart.",
			files:  needs.with(tree{"charts/child.tgz": link}),
			want:   want{Err: `chart "app": dependency charts/child.tgz: "child/templates/x" is not a regular file`},
		},
		"DependencyOutside": {
			reason: "A path may not leave the chart.",
			files:  needs.with(tree{"charts/child.tgz": out}),
			want:   want{Err: `chart "app": dependency charts/child.tgz: all files must be in a single top-level directory, but "child/../../x" is not`},
		},
		"DependencyAbsolute": {
			reason: "A path may not be absolute after its directory is dropped.",
			files:  needs.with(tree{"charts/child.tgz": abs}),
			want:   want{Err: `chart "app": dependency charts/child.tgz: all files must be in a single top-level directory, but "child//etc/x" is not`},
		},
		"DependencyNotAnArchive": {
			reason: "The error names a file that is not a chart.",
			files:  needs.with(tree{"charts/child.tgz": "garbage"}),
			want:   want{Err: `chart "app": dependency charts/child.tgz: not a gzipped archive: unexpected EOF`},
		},
		"DependencyTooDeep": {
			reason: "Unpacking an archive that contains itself must end.",
			files:  needs.with(tree{"charts/child.tgz": nested}),
			want:   want{Err: "archives of dependencies are nested more than 8 levels deep"},
		},
		"DependencyBomb": {
			reason: "The limits also apply to packed dependencies.",
			files:  needs.with(tree{"charts/child.tgz": tree{"big": strings.Repeat("0", 1<<20)}.tgz(t, "child")}),
			opts:   []LoadOption{WithLimits(Limits{Uncompressed: 1 << 19, Files: 10})},
			want:   want{Err: "the unpacked chart is larger than the limit"},
		},
		"TooManyFiles": {
			reason: "The number of files is limited.",
			files:  app.with(tree{"c": "", "d": ""}),
			opts:   []LoadOption{WithLimits(Limits{Uncompressed: 1 << 20, Files: 3})},
			want:   want{Err: `chart "app": the chart has more than the limit of 3 files`},
		},
		"TooLarge": {
			reason: "The number of bytes is limited.",
			files:  app.with(tree{"c": strings.Repeat("0", 1<<10)}),
			opts:   []LoadOption{WithLimits(Limits{Uncompressed: 1 << 10, Files: 30})},
			want:   want{Err: `chart "app": the unpacked chart is larger than the limit of 1024 bytes`},
		},
		"LargeFile": {
			reason: "Helm's limit for a single file applies.",
			files:  app.with(tree{"c": strings.Repeat("0", input.MaxFile+1)}),
			want:   want{Err: `chart "app": c is larger than 5242880 bytes`},
		},
		"DependencyFile": {
			reason: "A file of a packed dependency that is too large is refused by its header.",
			files:  needs.with(tree{"charts/child.tgz": child.with(tree{"c": strings.Repeat("0", input.MaxFile+1)}).tgz(t, "child")}),
			want:   want{Err: `chart "app": dependency charts/child.tgz: cannot read "c": it is larger than 5242880 bytes`},
		},
		"DependencyMemory": {
			reason: "What a packed dependency contains takes memory before it is read.",
			files:  needs.with(tree{"charts/child.tgz": child.with(tree{"c": strings.Repeat("0", 1<<20)}).tgz(t, "child")}),
			opts:   []LoadOption{WithMemory(bounded(1 << 20))},
			want:   want{Err: `chart "app": dependency charts/child.tgz: cannot read "c": no memory`},
		},
		"Aliases": {
			reason: "Nested aliases of dependencies are limited.",
			files: aliases("app", "mid").with(aliases("mid", "low").below("charts/mid")).
				with(tree{"Chart.yaml": chartYAML("low")}.below("charts/mid/charts/low")),
			want: want{Err: `chart "app": the chart has more than 1000 dependencies, including aliases`},
		},
		"ValuesBomb": {
			reason: "Aliases in values are limited.",
			files:  app.with(tree{"values.yaml": "a: &a " + strings.Repeat("x", 10000) + "\nb: [" + strings.Repeat("*a, ", 1000) + "*a]\n"}),
			want:   want{Err: `chart "app": values.yaml: YAML is larger than 5242880 bytes when its aliases are expanded`},
		},
		"MetadataBomb": {
			reason: "Aliases in Chart.yaml, which is checked first, are limited.",
			files:  tree{"Chart.yaml": "a: &a " + strings.Repeat("x", 10000) + "\nb: [" + strings.Repeat("*a, ", 1000) + "*a]\n" + chartYAML("app")},
			want:   want{Err: `chart "": Chart.yaml: YAML is larger than 5242880 bytes when its aliases are expanded`},
		},
		"LongName": {
			reason: "The depth of paths is limited, because Helm's loader is recursive.",
			files:  app.with(tree{strings.Repeat("charts/a/", 1000) + "Chart.yaml": ""}),
			want:   want{Err: `chart "app": a file name is longer than 1024 bytes`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := Load(tc.files.files(), tc.opts...)
			got := want{Err: text(err)}
			if tc.want.Err != "" && strings.Contains(got.Err, tc.want.Err) {
				got.Err = tc.want.Err
			}
			if c != nil {
				got.Name, got.Version, got.AppVersion = c.Name(), c.Version(), c.AppVersion()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nLoad(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// bounded returns a function that allows a number of bytes.
func bounded(most int64) func(n int64) error {
	return func(n int64) error {
		if most -= n; most < 0 {
			return errors.New("no memory")
		}
		return nil
	}
}

// aliases returns a chart that contains the same dependency forty times.
func aliases(name, dep string) tree {
	lines := []string{"dependencies:"}
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("- {name: %s, alias: a%d, version: 1.2.3}", dep, i))
	}
	return tree{"Chart.yaml": chartYAML(name, lines...)}
}

func TestDigest(t *testing.T) {
	base := tree{"Chart.yaml": chartYAML("app"), "a": "bc", "d": ""}
	a := mustLoad(t, base).Digest()
	if b := mustLoad(t, base).Digest(); a != b {
		t.Errorf("the same files must have the same digest: %s and %s", a, b)
	}
	for reason, other := range map[string]tree{
		"content":  base.with(tree{"d": "x"}),
		"name":     {"Chart.yaml": chartYAML("app"), "a": "bc", "e": ""},
		"boundary": {"Chart.yaml": chartYAML("app"), "ab": "c", "d": ""},
	} {
		if b := mustLoad(t, other).Digest(); a == b {
			t.Errorf("another %s must give another digest", reason)
		}
	}
	c, err := Load(base.files(), WithDigest("sha256:abc"))
	if err != nil || c.Digest() != "sha256:abc" {
		t.Errorf("WithDigest: got %v, %v", c.Digest(), err)
	}
}

func TestNeeds(t *testing.T) {
	type want struct{ APIVersions, KubeVersion bool }
	cases := map[string]struct {
		reason string
		text   string
		values string
		user   map[string]any
		want   want
	}{
		"Plain":       {reason: "Words are not fields.", text: `APIVersions: KubeVersion {{ .Values.xAPIVersions }}{{ .Values.KubeVersions }}{{ "x" }} Capabilities`},
		"NoTemplate":  {reason: "Text without an action is not a template.", values: "x: .Capabilities.APIVersions"},
		"Root":        {reason: "A field of the root variable is found.", text: `{{ if $.Capabilities.APIVersions.Has "v1" }}{{ end }}`, want: want{APIVersions: true}},
		"Chain":       {reason: "A field at the end of a chain is found.", text: `{{ if has "v1" (.Capabilities).APIVersions }}{{ end }}`, want: want{APIVersions: true, KubeVersion: true}},
		"Index":       {reason: "A field name as an argument is found.", text: "{{ (index . `Capabilities`).x }}{{ index $y \"APIVersions\" }}", want: want{APIVersions: true, KubeVersion: true}},
		"KubeVersion": {reason: "A use of the version is found.", text: `{{ semverCompare ">1" .Capabilities.KubeVersion.Version }}`, want: want{KubeVersion: true}},
		"Variable":    {reason: "A field of a variable is found.", text: `{{ $c.KubeVersion.Minor }}`, want: want{KubeVersion: true}},
		"All":         {reason: "All capabilities have a version.", text: `{{ with .Capabilities }}{{ end }}`, want: want{KubeVersion: true}},
		"End":         {reason: "At the end of an action.", text: `{{.Capabilities}}`, want: want{KubeVersion: true}},
		"Default":     {reason: "Default values may be executed by tpl.", values: "x: ['{{ .Capabilities.APIVersions }}']", want: want{APIVersions: true}},
		"User":        {reason: "Values of the install can use the capabilities.", user: map[string]any{"x": map[string]any{"y": "{{ .Capabilities.KubeVersion }}"}}, want: want{KubeVersion: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			child := tree{"Chart.yaml": chartYAML("child"), "templates/_x.tpl": tc.text, "values.yaml": tc.values}
			c := mustLoad(t, tree{"Chart.yaml": chartYAML("app")}.with(child.below("charts/child")))
			got := want{c.NeedsAPIVersions(tc.user), c.NeedsKubeVersion(tc.user)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
