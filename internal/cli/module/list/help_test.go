// SPDX-License-Identifier: Apache-2.0

package list

import (
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/helptest"
)

// TestHelp checks that the help names the fields of the output.
func TestHelp(t *testing.T) {
	helptest.CheckFields(t, Command(&command.Environment{}).Long, offered{}, catalog.Release{}, enabled{}, catalog.EnabledModule{}, catalog.Available{})
}
