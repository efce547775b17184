// SPDX-License-Identifier: Apache-2.0

package makefile

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// A clone is a copy of this repository in which targets may leave files.
type clone struct {
	// origin is the root directory of the repository, dir that of the copy.
	origin, dir string
	env         []string
}

func newClone(t *testing.T) *clone {
	t.Helper()
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	c := &clone{origin: root, dir: filepath.Join(t.TempDir(), "provider-kyma")}
	if err := copyTree(root, c.dir); err != nil {
		t.Fatal(err)
	}
	c.env = environment(os.Environ(), t.TempDir())
	return c
}

// copyTree copies the files of the repository, without those of Git and without build results.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if name == ".git" || name == "bin" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, info.Mode().Perm())
	})
}

// environment returns the environment for make: that of the test without the variables of an outer make, of clusters, images
// and flags, and with the Docker configuration in docker.
func environment(all []string, docker string) []string {
	dropped := []string{
		"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "KUBECONFIG", "IMG", "ARGS", "PLATFORMS", "VERSION", "COMMIT", "DOCKER_CONFIG",
	}
	out := slices.DeleteFunc(slices.Clone(all), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains(dropped, name) || strings.HasPrefix(name, "PROVIDER_")
	})
	return append(out, "DOCKER_CONFIG="+docker)
}

// make runs targets, and returns their output.
func (c *clone) make(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "make", args...)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, &out, &out
	err := cmd.Run()
	return out.String(), err
}

// mustMake runs targets that must succeed, and returns their output.
func (c *clone) mustMake(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.make(t.Context(), args...)
	if err != nil {
		t.Fatalf("make %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// start starts a long-running target, and stops it at the end of the test.
func (c *clone) start(t *testing.T, args ...string) *process.Process {
	t.Helper()
	program, err := exec.LookPath("make")
	if err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(c.dir, "make", program, c.env, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// errorOf returns the only error line of a target in the output of a failed make.
func errorOf(out string) string {
	var found []string
	for line := range strings.Lines(out) {
		if strings.Contains(line, ": error: ") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	if len(found) != 1 {
		return "not one line with an error:\n" + out
	}
	return found[0]
}
