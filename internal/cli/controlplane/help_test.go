// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/helptest"
)

// TestHelp checks that the help of each command names the fields of its output.
func TestHelp(t *testing.T) {
	e := &command.Environment{}
	helptest.CheckFields(t, NewDeploy(e).Long, apply.Outcomes{}, apply.Outcome{})
	helptest.CheckFields(t, NewUndeploy(e).Long, apply.Outcomes{}, apply.Outcome{})
}
