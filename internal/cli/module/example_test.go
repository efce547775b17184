// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// TestExample makes the module of the documentation, which nothing is to be warned about.
func TestExample(t *testing.T) {
	to := filepath.Join(t.TempDir(), "module.tar")
	kymactl(t, "module", "create", "../../../docs/example-module", "-o", to, "--warnings-as-errors").want(t, command.ExitOK, "Wrote")
	got := kymactl(t, "module", "inspect", to, "--show-objects").want(t, command.ExitOK, "")
	for _, kind := range []string{"CustomResourceDefinition", "Deployment", "Greeting"} {
		if !strings.Contains(got.out, "kind: "+kind+"\n") {
			t.Errorf("it installs no %s:\n%s", kind, got.out)
		}
	}
}
