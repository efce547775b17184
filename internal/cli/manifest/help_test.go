// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/helptest"
)

// TestHelp checks that the help of each command names the fields of its output.
func TestHelp(t *testing.T) {
	e := &command.Environment{}
	helptest.CheckFields(t, NewPlan(e).Long, planReport{}, manifestPlanned{}, v1alpha1.PlannedObject{})
	helptest.CheckFields(t, NewTest(e).Long, testReport{}, testResult{})
}
