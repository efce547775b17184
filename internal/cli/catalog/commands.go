// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// ModuleCommands are commands of kymactl module.
func ModuleCommands(e *command.Environment) []*cobra.Command {
	return []*cobra.Command{
		newList(e),
		newEnable(e),
		newDisable(e),
	}
}

// Commands of kymactl.
func Commands(e *command.Environment) []*cobra.Command {
	return []*cobra.Command{
		newStatus(e),
		newWait(e),
		newPlan(e),
		newTest(e),
	}
}
