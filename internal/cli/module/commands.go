// SPDX-License-Identifier: Apache-2.0

package module

import (
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/create"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/enable"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/inspect"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/list"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/promote"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/sign"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/template"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/transfer"
)

// Commands returns the commands of kymactl module in the order of a typical workflow.
func Commands(e *command.Environment) []*cobra.Command {
	return []*cobra.Command{
		create.NewInit(e),
		create.Command(e),
		inspect.Command(e),
		inspect.NewDiff(e),
		sign.NewKeygen(e),
		sign.Command(e),
		sign.NewVerify(e),
		transfer.NewPush(e),
		transfer.NewPull(e),
		transfer.NewCopy(e),
		transfer.NewUnpack(e),
		template.Command(e),
		template.NewManifest(e),
		promote.Command(e),
		template.NewConvert(e),
		list.Command(e),
		enable.Command(e),
		enable.NewDisable(e),
	}
}
