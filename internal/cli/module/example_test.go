// SPDX-License-Identifier: Apache-2.0

package module_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// TestExample builds the module of the documentation, which must not cause warnings.
func TestExample(t *testing.T) {
	to := filepath.Join(t.TempDir(), "module.tar")
	kymactl(t, "module", "create", "../../../docs/example-module", "-o", to, "--warnings-as-errors").want(t, command.ExitOK, "Wrote")
	got := kymactl(t, "module", "inspect", to, "--show-objects").want(t, command.ExitOK, "")
	for _, kind := range []string{"CustomResourceDefinition", "Deployment", "Greeting"} {
		if !strings.Contains(got.out, "kind: "+kind+"\n") {
			t.Errorf("want it to install a %s, got:\n%s", kind, got.out)
		}
	}
}
