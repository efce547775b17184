// SPDX-License-Identifier: Apache-2.0

package control

import (
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// Commands of kymactl.
func Commands(e *command.Environment) []*cobra.Command {
	return []*cobra.Command{
		newDeploy(e),
		newUndeploy(e),
	}
}
