// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/helptest"
)

// TestHelp checks that the help of each command names the fields of its output.
func TestHelp(t *testing.T) {
	e := &command.Environment{}
	// The help refers to kymactl module list for the fields of catalog.EnabledModule.
	own := struct {
		Live *manifestReport `json:"live"`
	}{}
	helptest.CheckFields(t, NewStatus(e).Long, report{}, own, manifestReport{}, installReport{}, condition{}, eventReported{})
	helptest.CheckFields(t, NewWait(e).Long, awaited{})
}
