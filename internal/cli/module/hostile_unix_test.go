// SPDX-License-Identifier: Apache-2.0

//go:build unix

package module_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// TestCreatePipe checks that a pipe in the source is an error, and does not block the
// command.
func TestCreatePipe(t *testing.T) {
	for _, name := range []string{"module.yaml", "Chart.yaml", "PROJECT", "kustomization.yaml", "a.yaml"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
				t.Fatal(err)
			}
			done := make(chan run, 1)
			go func() {
				done <- start(t.Context(), "", "module", "create", dir, "--dry-run", "--name", greeter, "--version", "1.0.0")
			}()
			select {
			case got := <-done:
				got.want(t, command.ExitFailure, "")
			case <-time.After(time.Minute):
				t.Fatal("still running")
			}
		})
	}
}
