// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module/definition"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
)

// layoutRegistry is a layout with the interface by which ocm reads registries.
type layoutRegistry struct{ *layout.Store }

func (l layoutRegistry) Manifest(ctx context.Context, _, reference string) (data []byte, digest string, err error) {
	return l.Store.Manifest(ctx, reference)
}

func (l layoutRegistry) Blob(ctx context.Context, _, digest string) ([]byte, error) {
	return store.ReadBlob(ctx, l.Store, digest, 0)
}

// TestInit checks that module create accepts the file, and builds the same module as without it.
func TestInit(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		create []string // Without module.yaml.
		name   string
	}{
		"chart":       {reason: "A chart provides its version, and half a name.", create: []string{"--name", greeter}, name: greeter},
		"plain":       {reason: "A directory of YAML provides nothing.", create: []string{"--name", "example.org/module/my-module", "--version", "0.1.0"}, name: "example.org/module/my-module"},
		"kubebuilder": {reason: "A project provides a name.", args: []string{"--version", "0.1.0"}, create: []string{"--version", "0.1.0"}, name: "example.org/module/greeter-operator"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := fixture(t, name)
			without := kymactl(t, slices.Concat([]string{"module", "create", dir, "--dry-run"}, tc.create)...).want(t, command.ExitOK, "")
			args := slices.Concat([]string{"module", "init", dir}, tc.args)
			printed := kymactl(t, slices.Concat(args, []string{"-o", "-"})...).want(t, command.ExitOK, "")
			got := kymactl(t, args...).want(t, command.ExitOK, "Wrote")
			file := filepath.Join(dir, definition.FileName)
			data, err := os.ReadFile(file)
			if err != nil || string(data) != printed.out || got.out != file+"\n" {
				t.Errorf("\n%s\ninit: %v, %q; with -o - it wrote %s", tc.reason, err, got.out, printed.out)
			}
			d, err := definition.Parse(data)
			if err != nil || d.Name != tc.name {
				t.Errorf("\n%s\ninit: %v, %+v", tc.reason, err, d)
			}
			with := kymactl(t, "module", "create", dir, "--dry-run").want(t, command.ExitOK, "")
			if diff := cmp.Diff(without.out, with.out); diff != "" {
				t.Errorf("\n%s\ncreate without module.yaml, and with it: %s", tc.reason, diff)
			}
			kymactl(t, args...).want(t, command.ExitOK, "Unchanged")
			if err := os.WriteFile(file, []byte("name: mine\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			kymactl(t, args...).want(t, command.ExitExists, "use --force")
			if data, err := os.ReadFile(file); err != nil || string(data) != "name: mine\n" {
				t.Errorf("the existing file was replaced: %v, %s", err, data)
			}
			kymactl(t, slices.Concat(args, []string{"--force"})...).want(t, command.ExitOK, "Wrote")
			if data, err := os.ReadFile(file); err != nil || string(data) != printed.out {
				t.Errorf("--force: %v, %s", err, data)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "._*")); err != nil || len(left) > 0 {
				t.Errorf("want no temporary files, got %v, %v", left, err)
			}
		})
	}
}

func TestInitUsage(t *testing.T) {
	dir := fixture(t, "chart")
	kymactl(t, "module", "init", dir, "--name", "greeter").want(t, command.ExitUsage, `--name: invalid value "greeter"`)
	kymactl(t, "module", "init", dir, "--version", "latest").want(t, command.ExitUsage, `--version: invalid value "latest"`)
	kymactl(t, "module", "init", filepath.Join(dir, "nothing")).want(t, command.ExitNotFound, "does not exist")
}

// TestInitNothing checks that init works in an empty directory.
func TestInitNothing(t *testing.T) {
	dir := t.TempDir()
	kymactl(t, "module", "init", dir, "--name", greeter).want(t, command.ExitOK, "contains nothing that can be used as a module")
	data, err := os.ReadFile(filepath.Join(dir, definition.FileName))
	if err != nil {
		t.Fatal(err)
	}
	d, err := definition.Parse(data)
	if err != nil || d.Name != greeter || d.Version != "0.1.0" {
		t.Errorf("%v, %+v of:\n%s", err, d, data)
	}
	kymactl(t, "module", "create", dir, "--dry-run").want(t, command.ExitFailure, "charts")
}

// TestInitInParallel checks that one of many processes writes the file, and that all others fail with ExitExists.
func TestInitInParallel(t *testing.T) {
	dir := fixture(t, "chart")
	var wg sync.WaitGroup
	var mu sync.Mutex
	codes := map[command.ExitCode]int{}
	for i := range 16 {
		wg.Go(func() {
			got := start(t.Context(), "", "module", "init", dir, "--version", "1.0."+strings.Repeat("1", i+1))
			mu.Lock()
			defer mu.Unlock()
			codes[got.code]++
		})
	}
	wg.Wait()
	if codes[command.ExitOK] != 1 || codes[command.ExitExists] != 15 {
		t.Errorf("exit codes: %v", codes)
	}
}
