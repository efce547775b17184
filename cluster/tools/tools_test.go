// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake makes a repository whose only tool prints what the linker set.
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
	return root, module{folder: "fake", packages: map[Tool]string{"fake": "."}, ldflags: "-X main.answer=42", usually: "1 second"}
}

func TestBuild(t *testing.T) {
	root, m := fake(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			b, err := newBuild(t.Context(), root, m)
			if err != nil {
				t.Error(err)
				return
			}
			if err := b.ensure(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	b, err := newBuild(t.Context(), root, m)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(b.dir, "fake")).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "42" {
		t.Errorf("the built tool says %q, %v", out, err)
	}
	left, err := filepath.Glob(b.dir + ".tmp-*")
	if err != nil || len(left) > 0 {
		t.Errorf("builds leave %q, %v", left, err)
	}

	// A broken source shows that the binary is not built again, and, with another
	// hash, that what the compiler says is reported.
	if err := os.WriteFile(filepath.Join(b.source, "main.go"), []byte("package main\n\nfunc main() { nonsense }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.ensure(t.Context()); err != nil {
		t.Errorf("a tool that is there is built again: %v", err)
	}
	m.ldflags = ""
	other, err := newBuild(t.Context(), root, m)
	if err != nil {
		t.Fatal(err)
	}
	if other.dir == b.dir {
		t.Error("other flags of the linker do not make another folder")
	}
	if err := other.ensure(t.Context()); err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Errorf("want what the compiler says, got %v", err)
	}
}

func TestHashCoversTheModule(t *testing.T) {
	root, m := fake(t)
	before, err := newBuild(t.Context(), root, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(before.source, "go.sum"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := newBuild(t.Context(), root, m)
	if err != nil {
		t.Fatal(err)
	}
	if before.dir == after.dir {
		t.Error("another go.sum does not make another folder")
	}
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
