// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// Commands of kymactl module.
func Commands(e *command.Environment) []*cobra.Command {
	return []*cobra.Command{
		newConvert(e),
		newCopy(e),
		newCreate(e),
		newDiff(e),
		newInit(e),
		newInspect(e),
		newKeygen(e),
		newPull(e),
		newPush(e),
		newSign(e),
		newTemplate(e),
		newVerify(e),
	}
}
