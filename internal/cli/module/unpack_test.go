// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/transfer"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// filesIn returns the content of the files in a directory, by path.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUnpack(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	one, two := pushGreeting(t, r, greeting("1.0.0", false)), pushGreeting(t, r, greeting("2.0.0", true))
	t.Chdir(t.TempDir())
	got := kymactl(t, "module", "unpack", one.Repository+":1.0.0").want(t, command.ExitOK, "Unpacked: 7 files in greeter")
	if want := "greeter\n" + one.Digest + "\n"; got.out != want {
		t.Errorf("want %q on stdout, got %q", want, got.out)
	}
	files := filesIn(t, "greeter")
	list := files[transfer.UnpackedFile]
	if len(files) != 8 || list == "" || files["charts/greeter/values.yaml"] != string(greeterChart(false)["values.yaml"]) || files["default-cr.yaml"] == "" {
		t.Errorf("got %v", files)
	}

	layout := layoutOf(t, one, "1.0.0")
	var report struct {
		Name, Version, Digest, Directory string
		Files                            []string
	}
	again := kymactl(t, "module", "unpack", layout, "-o", "b/", "--output-format", "json").want(t, command.ExitOK, "")
	if err := json.Unmarshal([]byte(again.out), &report); err != nil {
		t.Fatal(err)
	}
	if report.Name != greeter || report.Version != "1.0.0" || report.Digest != one.Digest || report.Directory != "b" || len(report.Files) != 7 {
		t.Errorf("got %s", again.out)
	}
	if diff := cmp.Diff(files, filesIn(t, "b")); diff != "" {
		t.Errorf("-registry, +layout:\n%s", diff)
	}

	kymactl(t, "module", "unpack", two.Repository+":2.0.0").want(t, command.ExitExists, "greeter is not empty: use --force")
	if diff := cmp.Diff(files, filesIn(t, "greeter")); diff != "" {
		t.Errorf("without --force: -before, +after:\n%s", diff)
	}
	kymactl(t, "module", "unpack", two.Repository+":2.0.0", "--force").want(t, command.ExitOK, "Unpacked")
	replaced := filesIn(t, "greeter")
	if replaced["charts/greeter/values.yaml"] != string(greeterChart(true)["values.yaml"]) || replaced[transfer.UnpackedFile] == list {
		t.Errorf("with --force: got %v", replaced)
	}

	// The unpacked chart can become a module again, and no command reads the list as objects.
	if definition.IsYAML(transfer.UnpackedFile) {
		t.Errorf("%s is read as a manifest", transfer.UnpackedFile)
	}
	kymactl(t, "module", "create", "greeter/charts/greeter", "--name", greeter, "--version", "3.0.0", "-o", "made").want(t, command.ExitOK, "Wrote")
	left, err := filepath.Glob(".kymactl-*")
	if err != nil || len(left) > 0 {
		t.Errorf("want no temporary files, got %v, %v", left, err)
	}
}

// TestUnpackReplaces checks that --force replaces a directory only if it contains nothing but unpacked files.
func TestUnpackReplaces(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	one := pushGreeting(t, r, greeting("1.0.0", false)).Repository + ":1.0.0"
	two := pushGreeting(t, r, greeting("2.0.0", true)).Repository + ":2.0.0"
	const values, list = "charts/greeter/values.yaml", transfer.UnpackedFile
	cases := map[string]struct {
		reason string
		change func(dir string) error
		// during means that the change happens while the module is read.
		during bool
		want   string // Part of the error; empty if the directory is replaced.
	}{
		"Unchanged": {reason: "An unchanged module is replaced.", change: func(string) error { return nil }},
		"Deleted":   {reason: "Files that are missing cannot be lost.", change: func(dir string) error { return os.RemoveAll(filepath.Join(dir, "charts")) }},
		"Touched": {reason: "Only the content counts.", change: func(dir string) error {
			return os.Chmod(filepath.Join(dir, values), 0o600)
		}},
		"Empty": {reason: "An empty directory needs no list.", change: func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700))
		}},
		"Repository": {reason: "A repository of the user stays.", change: func(dir string) error { return write(dir, ".git/HEAD", "x") }, want: "greeter contains .git,"},
		"Edited":     {reason: "Edits stay.", change: func(dir string) error { return write(dir, values, "mine: 1") }, want: "greeter contains " + values + ", which was changed"},
		"Notes":      {reason: "Files of the user stay.", change: func(dir string) error { return write(dir, "notes.txt", "x") }, want: "greeter contains notes.txt,"},
		"Deep":       {reason: "Files of the user stay in directories of the module, too.", change: func(dir string) error { return write(dir, "charts/greeter/more.yaml", "") }, want: "contains charts/greeter/more.yaml,"},
		"Directory":  {reason: "Directories of the user stay.", change: func(dir string) error { return os.Mkdir(filepath.Join(dir, "mine"), 0o700) }, want: "contains mine,"},
		"Link": {reason: "A link in the place of a file stays.", change: func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, values), filepath.Join(dir, "../values")), os.Symlink("../../../values", filepath.Join(dir, values)))
		}, want: "which was a regular file and was replaced"},
		"NoList": {reason: "Without a list, nothing is known about the files.", change: func(dir string) error { return os.Remove(filepath.Join(dir, list)) }, want: "something other than an unpacked module"},
		"BadList": {
			reason: "A damaged list does not allow anything.", change: func(dir string) error { return write(dir, list, "{") },
			want: "cannot be read (not valid JSON)",
		},
		"NewList": {
			reason: "A list of a later version may mean something else.", change: func(dir string) error { return write(dir, list, `{"version":2,"files":{}}`) },
			want: "unsupported version 2",
		},
		"During": {reason: "What is added during the download stays.", change: func(dir string) error { return write(dir, "notes.txt", "x") }, during: true, want: "greeter contains notes.txt,"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			kymactl(t, "module", "unpack", one, "-o", "greeter").want(t, command.ExitOK, "Unpacked")
			change := sync.OnceValue(func() error { return tc.change("greeter") })
			if tc.during {
				r.SetFault(func(http.ResponseWriter, *http.Request) bool { return change() != nil })
				defer r.SetFault(nil)
			} else if err := change(); err != nil {
				t.Fatal(err)
			}
			before := filesIn(t, ".")
			code := command.ExitOK
			if tc.want != "" {
				code = command.ExitExists
			}
			kymactl(t, "module", "unpack", two, "-o", "greeter", "--force").want(t, code, tc.want)
			after := filesIn(t, ".")
			if tc.during {
				before["greeter/notes.txt"] = "x"
			}
			if diff := cmp.Diff(before, after); tc.want != "" && diff != "" {
				t.Errorf("\n%s\nfiles: -before, +after:\n%s", tc.reason, diff)
			}
			if got := after["greeter/"+values]; tc.want == "" && got != string(greeterChart(true)["values.yaml"]) {
				t.Errorf("\n%s\nwant the new values, got %q", tc.reason, got)
			}
			if left, err := filepath.Glob(".kymactl-*"); err != nil || len(left) > 0 {
				t.Errorf("\n%s\nwant no temporary files, got %v, %v", tc.reason, left, err)
			}
		})
	}
}

// write writes a file below a directory, and creates its parents.
func write(dir, name, data string) error {
	name = filepath.Join(dir, name)
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(data), 0o600))
}

func TestUnpackRefuses(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	module := pushGreeting(t, r, greeting("1.0.0", false)).Repository + ":1.0.0"
	climbing := greeting("1.1.0", false)
	climbing.Resources[0] = controlplane.ComponentResource{Name: "greeter", Type: "helm-chart", Data: tarOf(t, "../../escaped")}
	hostile := pushGreeting(t, r, climbing).Repository + ":1.1.0"
	_, pub := keyFiles(t)
	dir := t.TempDir()
	for name, data := range map[string]string{"file": "", "work/mine": "x"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("work", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	before := filesIn(t, ".")
	cases := map[string]struct {
		reason string
		args   []string
		code   command.ExitCode
		want   string
	}{
		"File":     {"A file is not replaced.", []string{module, "-o", "file", "--force"}, command.ExitExists, "is not a directory"},
		"Link":     {"A symbolic link is not replaced.", []string{module, "-o", "link", "--force"}, command.ExitExists, "is not a directory"},
		"Work":     {"A directory with other files of the user is not replaced.", []string{module, "-o", "work", "--force"}, command.ExitExists, "something other than an unpacked module"},
		"Here":     {"The working directory is not replaced.", []string{module, "-o", ".", "--force"}, command.ExitUsage, "-o .:"},
		"Stdout":   {"Files cannot go to stdout.", []string{module, "-o", "-"}, command.ExitUsage, "-o -:"},
		"Format":   {"An unknown format is refused.", []string{module, "--output-format", "xml"}, command.ExitUsage, "xml"},
		"Missing":  {"The module must exist.", []string{r.Host() + "/modules//" + greeter + ":9.0.0", "-o", "x"}, command.ExitNotFound, "9.0.0"},
		"Unsigned": {"With a key, the module must be signed.", []string{module, "-o", "x", "--key", pub}, command.ExitUnverified, "nothing was written"},
		"Climbing": {"An archive must not contain a path that leaves it.", []string{hostile, "-o", "x/y"}, command.ExitFailure, "a path outside of the archive"},
	}
	if err := os.Mkdir("x", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			args := tc.args
			if name == "Missing" || name == "Unsigned" {
				args = append(args, "--force")
			}
			kymactl(t, append([]string{"module", "unpack"}, args...)...).want(t, tc.code, tc.want)
			if diff := cmp.Diff(before, filesIn(t, ".")); diff != "" {
				t.Errorf("\n%s\nfiles: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

// tarOf returns an archive of a chart with one more file.
func tarOf(t *testing.T, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, data := range map[string]string{"greeter/Chart.yaml": "apiVersion: v2\nname: greeter\nversion: 0.1.0\n", name: "x"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestManifest(t *testing.T) {
	r := startRegistry(t, controlplane.WebOptions{})
	p := pushGreeting(t, r, greeting("1.0.0", false))
	layout := layoutOf(t, p, "1.0.0")
	got := kymactl(t, "module", "manifest", p.Repository+":1.0.0", "-n", "team-a", "--provider-config", "cluster-a").want(t, command.ExitOK, "")
	m := &v1alpha1.Manifest{}
	if err := yaml.UnmarshalStrict([]byte(got.out), m); err != nil {
		t.Fatal(err)
	}
	spec := m.Spec.ForProvider
	if m.Kind != "Manifest" || m.Namespace != "team-a" || m.Name != "greeter" || m.Spec.ProviderConfigReference.Name != "cluster-a" ||
		spec.Component.Digest != p.Digest || len(spec.Installs) != 1 || !strings.Contains(got.out, "count: 12345678901234567\n") || strings.Contains(got.out, "status:") {
		t.Errorf("got\n%s", got.out)
	}
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	kymactl(t, "module", "manifest", layout, "--repository", r.Host()+"/modules", "--name", "hello", "-o", file).want(t, command.ExitOK, "Wrote Manifest hello to "+file)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := &v1alpha1.Manifest{}
	if err := yaml.UnmarshalStrict(data, other); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(spec, other.Spec.ForProvider); diff != "" || other.Name != "hello" || other.Namespace != "" || other.Spec.ProviderConfigReference.Name != "default" {
		t.Errorf("-registry, +layout:\n%s\n%s", diff, data)
	}
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"Layout":    {"A layout is not in a registry.", []string{layout}, "--repository"},
		"Mapping":   {"An unknown mapping is refused.", []string{layout, "--repository", "example.org/m", "--name-mapping", "x"}, "--name-mapping"},
		"Name":      {"A name must be valid in Kubernetes.", []string{layout, "--name", "A"}, "--name"},
		"Namespace": {"A namespace must be valid in Kubernetes.", []string{layout, "-n", "a.b"}, "--namespace"},
		"Config":    {"A cluster is needed.", []string{layout, "--provider-config", ""}, "--provider-config"},
		"None":      {"A module is needed.", nil, "arg"},
	} {
		t.Run(name, func(t *testing.T) {
			kymactl(t, append([]string{"module", "manifest"}, tc.args...)...).want(t, command.ExitUsage, tc.want)
		})
	}
}
