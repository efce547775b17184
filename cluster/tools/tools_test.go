// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
)

// fake creates a repository whose only tool prints a variable that the linker sets.
func fake(t *testing.T) (root string, m module) {
	t.Helper()
	root = t.TempDir()
	dir := filepath.Join(root, "cluster", "tools", "fake")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"go.mod":  "module example.org/fake\n\ngo 1.26.0\n",
		"go.sum":  "",
		"main.go": "package main\n\nvar answer string\n\nfunc main() { println(answer) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(root, "cache"))
	return root, module{
		dir: "fake", order: []Tool{"fake"}, packages: map[Tool]string{"fake": "."}, ldflags: map[Tool]string{"fake": "-X main.answer=42"},
	}
}

func TestBuild(t *testing.T) {
	root, m := fake(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			b, err := newBuild(t.Context(), root, m, "fake")
			if err != nil {
				t.Error(err)
				return
			}
			if err := b.run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()

	b, err := newBuild(t.Context(), root, m, "fake")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), b.path()).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "42" {
		t.Errorf("the built tool says %q, %v", out, err)
	}
	left, err := filepath.Glob(filepath.Join(b.dir, ".build-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("builds leave %q, %v", left, err)
	}

	// A broken source shows that the binary is not rebuilt and, with a different hash, that the output of the compiler is
	// reported.
	if err := os.WriteFile(filepath.Join(b.source, "main.go"), []byte("package main\n\nfunc main() { nonsense }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.run(t.Context()); err != nil {
		t.Errorf("a tool that is there is built again: %v", err)
	}
	m.ldflags = nil
	other, err := newBuild(t.Context(), root, m, "fake")
	if err != nil {
		t.Fatal(err)
	}
	if other.dir == b.dir {
		t.Error("other flags of the linker do not make another directory")
	}
	if err := other.run(t.Context()); err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Errorf("want what the compiler says, got %v", err)
	}
}

func TestHashCoversTheModule(t *testing.T) {
	root, m := fake(t)
	before, err := newBuild(t.Context(), root, m, "fake")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(before.source, "go.sum"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := newBuild(t.Context(), root, m, "fake")
	if err != nil {
		t.Fatal(err)
	}
	if before.dir == after.dir {
		t.Error("another go.sum does not make another directory")
	}
}

// TestInstalled checks that installed servers are used if they have the right version, and built otherwise.
func TestInstalled(t *testing.T) {
	cases := map[string]struct {
		reason string
		tool   Tool
		says   string
		onPath bool
		want   bool
	}{
		"Assets": {
			reason: "A server in $KUBEBUILDER_ASSETS of another patch release is used.",
			tool:   KubeAPIServer, says: "Kubernetes v1.36.0", want: true,
		},
		"Path": {
			reason: "A server on PATH is used.",
			tool:   Etcd, says: "etcd Version: 3.6.1", onPath: true, want: true,
		},
		"Client": {
			reason: "The output of kubectl contains more than its version.",
			tool:   Kubectl, says: "Client Version: v1.36.3\nKustomize Version: v5.7.1", want: true,
		},
		"OtherMinor": {
			reason: "A server of another minor release is not used.",
			tool:   KubeAPIServer, says: "Kubernetes v1.35.3",
		},
		"Silent": {
			reason: "A program that does not print a version is not used.",
			tool:   KubeAPIServer, says: "hello",
		},
		"NoServer": {
			reason: "Programs for comparisons are always built in the pinned version.",
			tool:   Helm, says: "v3.22.0",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			dir := t.TempDir()
			script := "#!/bin/sh\necho '" + tc.says + "'\n"
			if err := os.WriteFile(filepath.Join(dir, string(tc.tool)), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv(assetsVariable, dir)
			if tc.onPath {
				t.Setenv(assetsVariable, "")
				t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			}
			steps, err := Missing(t.Context(), tc.tool)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(steps) == 0; got != tc.want {
				t.Errorf("%s\nused: want %t, got %t", tc.reason, tc.want, got)
			}
			_, err = Path(t.Context(), tc.tool)
			var notBuilt *NotBuiltError
			if tc.want != (err == nil) || (err != nil && !errors.As(err, &notBuilt)) {
				t.Errorf("%s\nPath: %v", tc.reason, err)
			}

			// The server is replaced with another version at the same path.
			if err := os.WriteFile(filepath.Join(dir, string(tc.tool)), []byte("#!/bin/sh\necho v0.1.0\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			if steps, err = Missing(t.Context(), tc.tool); err != nil || len(steps) != 1 {
				t.Errorf("%s\nwant a server of another version not used any more, got %d steps, %v", tc.reason, len(steps), err)
			}
		})
	}
}

// TestSharedVersions checks that the tools and the provider use the same versions of shared modules, because with a different
// version, everything that imports the module would be compiled again.
func TestSharedVersions(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	shared := func(path string) bool {
		for _, prefix := range []string{"k8s.io/", "sigs.k8s.io/", "golang.org/x/", "google.golang.org/", "go.opentelemetry.io/", "github.com/google/"} {
			if strings.HasPrefix(path, prefix) {
				return true
			}
		}
		return false
	}
	provider := versions(t, root)
	for _, dir := range []string{"crossplane", "crank", "function-auto-ready", "clients"} {
		for path, version := range versions(t, filepath.Join(root, "cluster", "tools", dir)) {
			if other, ok := provider[path]; ok && other != version && shared(path) {
				t.Errorf("%s: %s is %s, want %s as in the go.mod of the provider", dir, path, version, other)
			}
		}
	}
}

// TestOlder checks that the servers of older versions are those of the go.mod files, and that only their names build them.
func TestOlder(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range older() {
		of, version := "github.com/crossplane/crossplane/v2", olderCrossplane
		if i < len(olderVersions()) {
			of, version = "k8s.io/kubernetes", olderVersions()[i]
		}
		if got := versions(t, filepath.Join(root, "cluster", "tools", m.dir))[of]; got != version {
			t.Errorf("%s: want %s %s, got %s", m.dir, of, version, got)
		}
		for _, name := range m.order {
			if found, err := moduleOf(name); err != nil || found.dir != m.dir || !strings.Contains(strings.ToLower(found.ldflags[name]), "version="+version) {
				t.Errorf("moduleOf(%q): got %q with %q, %v", name, found.dir, found.ldflags[name], err)
			}
			if slices.Contains(All(), name) {
				t.Errorf("All() contains %s, which make tools would build", name)
			}
		}
	}
	first := older()[0]
	if got := first.order[0]; got != Older(KubeAPIServer, "1.34") {
		t.Errorf("older(): want %q first, got %q", Older(KubeAPIServer, "1.34"), got)
	}
	b := build{tool: first.order[0], module: first, dir: "dir"}
	if diff := cmp.Diff(filepath.Join("dir", "kube-apiserver"), b.path()); diff != "" {
		t.Errorf("the name of the binary, which is a field manager: -want, +got:\n%s", diff)
	}
}

// versions returns the versions that a go.mod requires, by module.
func versions(t *testing.T, dir string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, r := range file.Require {
		out[r.Mod.Path] = r.Mod.Version
	}
	return out
}

// TestRun checks the printed progress of builds, one of which takes ten minutes.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		slow := func(context.Context) error { time.Sleep(10 * time.Minute); return nil }
		broken := func(context.Context) error { return errors.New("no such package") }
		err := Run(t.Context(), &out,
			Step{Name: "kube-apiserver", Usually: "3 minutes", Do: slow},
			Step{Name: "helm", Do: broken},
			Step{Name: "never", Do: broken})
		if diff := cmp.Diff("cannot build helm: no such package", err.Error()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		want := "  1 of 3: kube-apiserver (usually 3 minutes the first time) …, 10m0s\n  2 of 3: helm …, failed\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, path); err == nil {
		t.Error("two hold the same lock")
	}
	unlock()
	unlock, err = lock(t.Context(), path)
	if err != nil {
		t.Errorf("a lock that was given back cannot be taken: %v", err)
	}
	unlock()
}

func TestUnknownTool(t *testing.T) {
	if _, err := Path(t.Context(), "screwdriver"); err == nil || !strings.Contains(err.Error(), `"screwdriver"`) {
		t.Errorf("want an error that names the tool, got %v", err)
	}
}

func TestModuleDir(t *testing.T) {
	dir, err := ModuleDir(t.Context(), Crossplane, "github.com/crossplane/crossplane/v2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "cluster", "charts", "crossplane", "Chart.yaml")); err != nil {
		t.Error(err)
	}
}
