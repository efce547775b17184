// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/summary"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
)

const fixtures = "../../module/build/testdata"

// fixture copies a fixture into a temporary directory, in which a test can write.
func fixture(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(fixtures, name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// goldenDigest returns the digest of the module that is built from a fixture.
func goldenDigest(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures, "golden", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	digest, _, _ := strings.Cut(string(data), "\n")
	return digest
}

// names returns the paths of all files below a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rootOf returns the tag and the digest of the root of a layout.
func rootOf(t *testing.T, path string) (tag, digest string) {
	t.Helper()
	l, err := layout.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if tag, digest, err = l.Root(t.Context()); err != nil {
		t.Fatal(err)
	}
	return tag, digest
}

// wantSame fails the test if a module that was signed after its creation differs from one that was signed by module create.
func wantSame(t *testing.T, signed, later string) {
	t.Helper()
	tag, digest := rootOf(t, signed)
	if laterTag, laterDigest := rootOf(t, later); tag != laterTag || digest != laterDigest {
		t.Errorf("signed by create: %s %s, signed later: %s %s", tag, digest, laterTag, laterDigest)
	}
	have := blobsOf(t, later)
	for blob := range blobsOf(t, signed) {
		if !have[blob] {
			t.Errorf("the module that was signed later has no blob %s", blob)
		}
	}
}

func privateKey(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "k.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key())})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCreate(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   string // In the message.
	}{
		"chart":       {reason: "A chart has a version, but no component name.", args: []string{"--name", greeter}, want: "is a chart"},
		"plain":       {reason: "A directory of YAML has neither.", args: []string{"--name", "kyma-project.io/module/template-operator", "--version", "1.0.5"}, want: "Warning: image europe-docker.pkg.dev"},
		"kubebuilder": {reason: "A project provides the name.", args: []string{"--version", "0.1.0"}, want: "is a kubebuilder project"},
		"full":        {reason: "A module.yaml can contain all settings.", want: "Wrote example.org/module/greeter 1.2.3"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := fixture(t, name)
			before := names(t, dir)
			out := t.TempDir()
			want := goldenDigest(t, name)
			for _, to := range []string{"layout", "layout", "m.tar", "m.tar.gz", "m.tar"} {
				got := kymactl(t, slices.Concat([]string{"module", "create", dir, "-o", filepath.Join(out, to)}, tc.args)...).want(t, command.ExitOK, tc.want)
				if _, digest := rootOf(t, filepath.Join(out, to)); got.lastLine() != want || digest != want {
					t.Errorf("\n%s\ncreate -o %s: want digest %s, got %s, and %s in the layout", tc.reason, to, want, got.lastLine(), digest)
				}
			}
			if diff := cmp.Diff(before, names(t, dir)); diff != "" {
				t.Errorf("the source was changed: %s", diff)
			}
			kymactl(t, "module", "inspect", filepath.Join(out, "layout")).want(t, command.ExitOK, "")
			kymactl(t, "module", "diff", filepath.Join(out, "layout"), filepath.Join(out, "m.tar")).want(t, command.ExitOK, "")
			entries, err := os.ReadDir(out)
			if err != nil || len(entries) != 3 {
				t.Errorf("want no other files, got %v, %v", entries, err)
			}
		})
	}
}

// TestCreateInside checks that output in the directory of the module does not change the module: a second run gives the same digest.
func TestCreateInside(t *testing.T) {
	for name, args := range map[string][]string{"chart": {"--name", greeter}, "plain": {"--name", "kyma-project.io/module/template-operator", "--version", "1.0.5"}} {
		t.Run(name, func(t *testing.T) {
			want := goldenDigest(t, name)
			t.Chdir(fixture(t, name))
			// A directory is recognized as a layout by its content, and a tar file only by its name.
			for _, to := range []string{"out", "out", "other/out", "m.tar", "m.tar"} {
				got := kymactl(t, slices.Concat([]string{"module", "create", "-o", to}, args)...).want(t, command.ExitOK, "")
				if got.lastLine() != want {
					t.Errorf("create -o %s: want %s, got %s", to, want, got.lastLine())
				}
			}
			kymactl(t, slices.Concat([]string{"module", "create", "-o", "."}, args)...).want(t, command.ExitUsage, "is the directory of the module itself")
		})
	}
}

func TestCreateReplaces(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	dir := fixture(t, "full")
	kymactl(t, "module", "create", dir, "-o", out, "--version", "0.0.1").want(t, command.ExitOK, "")
	kymactl(t, "module", "create", dir, "-o", out).want(t, command.ExitOK, "")
	fresh := filepath.Join(t.TempDir(), "fresh")
	kymactl(t, "module", "create", dir, "-o", fresh).want(t, command.ExitOK, "")
	if diff := cmp.Diff(blobsOf(t, fresh), blobsOf(t, out)); diff != "" {
		t.Errorf("the previous content is still there: %s", diff)
	}
	if tag, digest := rootOf(t, out); tag != "1.2.3" || digest != goldenDigest(t, "full") {
		t.Errorf("root: %s, %s", tag, digest)
	}
	other := fixture(t, "chart")
	kymactl(t, "module", "create", dir, "-o", other).want(t, command.ExitExists, "contains files that do not belong to an image layout")
	if _, err := os.Stat(filepath.Join(other, "Chart.yaml")); err != nil {
		t.Errorf("a directory that is refused must stay unchanged: %v", err)
	}
}

func TestCreateOutput(t *testing.T) {
	dir := fixture(t, "full")
	var s summary.Module
	got := kymactl(t, "module", "create", dir, "--dry-run", "--output-format", "json", "--version", "2.0.0+b.1", "--provider", "me", "--channel", "fast", "--quiet").want(t, command.ExitOK, "")
	if err := json.Unmarshal([]byte(got.out), &s); err != nil || got.err != "" {
		t.Fatalf("%v: %s, %s", err, got.out, got.err)
	}
	if s.Name != greeter || s.Version != "2.0.0+b.1" || s.Tag != "2.0.0.build-b.1" || s.Provider != "me" || s.Layout != "" || len(s.Layers) != 9 || s.Signatures == nil {
		t.Errorf("summary: %+v", s)
	}
	if path := kymactl(t, "module", "create", dir, "--dry-run", "--output-format", "jsonpath={.digest}").want(t, command.ExitOK, ""); path.out != goldenDigest(t, "full")+"\n" {
		t.Errorf("jsonpath: %q", path.out)
	}
	table := kymactl(t, "module", "create", dir, "--dry-run").want(t, command.ExitOK, "")
	if !strings.HasPrefix(table.out, greeter+" 1.2.3\n") || table.lastLine() != goldenDigest(t, "full") {
		t.Errorf("table: %s", table.out)
	}
}

func TestCreateUsage(t *testing.T) {
	dir, out := fixture(t, "chart"), filepath.Join(t.TempDir(), "out")
	empty := t.TempDir()
	broken := filepath.Join(empty, "broken")
	if err := os.WriteFile(broken, []byte("nam: a"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		args   []string
		code   command.ExitCode
		want   string
	}{
		"NoOutput":   {reason: "The flag for the output is required.", args: []string{dir, "--name", greeter}, code: command.ExitUsage, want: "-o PATH"},
		"Format":     {reason: "An unknown format is refused.", args: []string{dir, "-o", out, "--output-format", "xml"}, code: command.ExitUsage, want: "unknown output format"},
		"NoName":     {reason: "A chart has no component name.", args: []string{dir, "-o", out}, code: command.ExitUsage, want: "is a chart without a module.yaml: set --name, such as example.org/module/greeter, or create a module.yaml with"},
		"Stdout":     {reason: "A layout cannot be a stream.", args: []string{dir, "-o", "-"}, code: command.ExitUsage, want: "cannot be written to stdout"},
		"Channel":    {reason: "The channel must be valid.", args: []string{dir, "-o", out, "--channel", "Fast"}, code: command.ExitUsage, want: `--channel: invalid value "Fast"`},
		"Name":       {reason: "The name must be valid.", args: []string{dir, "-o", out, "--name", "greeter"}, code: command.ExitUsage, want: `--name: invalid value "greeter": must be a lowercase domain and path`},
		"Version":    {reason: "The version must be valid.", args: []string{dir, "-o", out, "--name", greeter, "--version", "latest"}, code: command.ExitUsage, want: `--version: invalid value "latest"`},
		"NoDir":      {reason: "The directory must exist.", args: []string{dir + "x", "-o", out}, code: command.ExitNotFound, want: "does not exist"},
		"File":       {reason: "A file is not a directory.", args: []string{broken, "-o", out}, code: command.ExitUsage, want: "is not a directory"},
		"Nothing":    {reason: "The directory must contain something.", args: []string{empty, "-o", out}, code: command.ExitFailure, want: "contains no chart (Chart.yaml)"},
		"ModuleYAML": {reason: "The message names the file.", args: []string{"-f", broken, "-o", out}, code: command.ExitFailure, want: broken + `: unknown field "nam"`},
		"NoFile":     {reason: "The file must exist.", args: []string{"-f", broken + "x", "-o", out}, code: command.ExitUsage, want: "-f: open"},
		"Key":        {reason: "The key file must exist.", args: []string{dir, "--name", greeter, "-o", out, "--key", out}, code: command.ExitUsage, want: "--key: open"},
		"BadKey":     {reason: "The key must be valid.", args: []string{dir, "--name", greeter, "-o", out, "--key", broken}, code: command.ExitUsage, want: "cannot read private key"},
		"Signature":  {reason: "A signature requires a key.", args: []string{dir, "--name", greeter, "-o", out, "--signature-name", "a"}, code: command.ExitUsage, want: "require --key FILE"},
		"Password":   {reason: "Flags for registries are checked even if no registry is used.", args: []string{dir, "--name", greeter, "-o", out, "--username", "u"}, code: command.ExitUsage, want: "--username requires --password-stdin"},
		"NoBase":     {reason: "The base must exist.", args: []string{"--from", "./nothing", "-o", out}, code: command.ExitNotFound, want: "./nothing"},
		"Strict":     {reason: "Warnings can be treated as errors.", args: []string{fixture(t, "plain"), "--name", greeter, "--version", "1.0.0", "--warnings-as-errors", "-o", out}, code: command.ExitFailure, want: "1 warning treated as an error (--warnings-as-errors)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := kymactl(t, slices.Concat([]string{"module", "create"}, tc.args)...).want(t, tc.code, tc.want)
			if _, err := os.Stat(out); err == nil || got.out != "" {
				t.Errorf("\n%s\nwant nothing written, got %q, %v", tc.reason, got.out, err)
			}
		})
	}
}

// TestCreateSigned checks that the signature becomes part of the module, and that the key does not.
func TestCreateSigned(t *testing.T) {
	dir, out := fixture(t, "chart"), filepath.Join(t.TempDir(), "out")
	inside := filepath.Join(dir, "k.pem")
	if err := os.Rename(privateKey(t), inside); err != nil {
		t.Fatal(err)
	}
	args := []string{"module", "create", dir, "--name", greeter, "--key", inside, "-o", out}
	dry := kymactl(t, slices.Concat(args, []string{"--dry-run"})...).want(t, command.ExitOK, "")
	got := kymactl(t, slices.Concat(args, []string{"--output-format", "json"})...).want(t, command.ExitOK, "")
	var s summary.Module
	if err := json.Unmarshal([]byte(got.out), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Signatures) != 1 || s.Signatures[0].Name != "kyma-module-signature" || s.Digest != dry.lastLine() {
		t.Errorf("summary: %+v, and digest %s of a dry run", s, dry.lastLine())
	}
	if tag, digest := rootOf(t, out); tag != "0.3.0" || digest != s.Digest {
		t.Errorf("root: %s, %s", tag, digest)
	}
	l, err := layout.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, _, err := l.Manifest(t.Context(), cosignTag(s.Digest)); err != nil {
		t.Errorf("cosign signature: %v", err)
	}
	for _, layer := range s.Layers {
		if layer.Resource != "greeter" {
			continue
		}
		want := kymactl(t, "module", "create", fixture(t, "chart"), "--name", greeter, "--dry-run").want(t, command.ExitOK, "")
		if !strings.Contains(want.out, layer.Digest) {
			t.Errorf("the key beside the chart changes the content of the chart")
		}
	}
	later, secret := filepath.Join(t.TempDir(), "later"), privateKey(t)
	kymactl(t, "module", "create", fixture(t, "chart"), "--name", greeter, "-o", later).want(t, command.ExitOK, "")
	kymactl(t, "module", "sign", later, "--key", secret).want(t, command.ExitOK, "")
	wantSame(t, out, later)
	plain := filepath.Join(t.TempDir(), "plain")
	kymactl(t, "module", "create", dir, "--name", greeter, "--key", inside, "--cosign=false", "-o", plain).want(t, command.ExitOK, "")
	if tag, digest := rootOf(t, plain); digest != s.Digest || len(blobsOf(t, plain)) >= len(blobsOf(t, out)) {
		t.Errorf("--cosign=false: %s, %s", tag, digest)
	}
}

// TestCreateInParallel writes one layout from many goroutines and processes.
func TestCreateInParallel(t *testing.T) {
	dir, out := fixture(t, "full"), t.TempDir()
	want := goldenDigest(t, "full")
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for _, to := range []string{"layout", "m.tar"} {
				got := start(t.Context(), "", "module", "create", dir, "-o", filepath.Join(out, to))
				if got.code != command.ExitOK || got.lastLine() != want {
					t.Errorf("create -o %s: %d, %s, %s", to, got.code, got.lastLine(), got.err)
				}
			}
		})
	}
	wg.Wait()
	for range 8 {
		wg.Go(func() {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCreateChild$", "-test.v")
			c.Env = append(os.Environ(), "TEST_CREATE="+dir, "TEST_CREATE_TO="+filepath.Join(out, "layout"), "TEST_CREATE_UMASK=077", "TZ=Asia/Tokyo", "LANG=tr_TR.UTF-8", "GOMAXPROCS=1")
			c.Dir = out
			data, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(data), want) {
				t.Errorf("%v: %s", err, data)
			}
		})
	}
	wg.Wait()
	for _, to := range []string{"layout", "m.tar"} {
		if _, digest := rootOf(t, filepath.Join(out, to)); digest != want {
			t.Errorf("%s: %s", to, digest)
		}
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 2 {
		t.Errorf("want no other files, got %v, %v", entries, err)
	}
}

// TestCreateChild runs in the processes that TestCreateInParallel starts.
func TestCreateChild(t *testing.T) {
	dir, to := os.Getenv("TEST_CREATE"), os.Getenv("TEST_CREATE_TO")
	if dir == "" {
		return // This is not one of these processes.
	}
	if os.Getenv("TEST_CREATE_UMASK") != "" {
		syscall.Umask(0o077)
	}
	got := kymactl(t, "module", "create", dir, "-o", to).want(t, command.ExitOK, "")
	t.Log(got.lastLine())
}

// TestCreateCancelled checks that an interrupted command leaves nothing behind.
func TestCreateCancelled(t *testing.T) {
	out := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, to := range []string{"layout", "m.tar"} {
		if got := start(ctx, "", "module", "create", fixture(t, "full"), "-o", filepath.Join(out, to)); got.code != command.ExitFailure || got.out != "" {
			t.Errorf("create -o %s: %d, %s", to, got.code, got.out)
		}
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 0 {
		t.Errorf("want no other files, got %v, %v", entries, err)
	}
}
