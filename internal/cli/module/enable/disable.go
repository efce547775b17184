// SPDX-License-Identifier: Apache-2.0

package enable

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/await"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

// disable holds the flags of kymactl module disable.
type disable struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	kyma        string
	wait        bool
	force       bool
}

// NewDisable returns the command kymactl module disable.
func NewDisable(e *command.Environment) *cobra.Command {
	d := &disable{environment: e}
	cmd := &cobra.Command{
		Use:        "disable NAME...",
		SuggestFor: []string{"remove"},
		Short:      "Disable modules in a Kyma and remove them from its cluster",
		Long: "Disable modules in a Kyma, all in a single write. The provider then removes the objects that the modules installed. " +
			"Disabling a module that is not enabled is not an error. Concurrent changes to the Kyma are safe.\n\n" +
			"With --wait, the command waits until the modules are removed completely, and shows what blocks their removal.\n\n" +
			"If the Kyma belongs to a Crossplane composition, the command fails, because the composition would revert the change. " +
			"Change the claim instead, or use --force.\n\n" +
			"For each module, the command prints a line that says whether the module was disabled or is unchanged. With --output " +
			"json or yaml, the command prints an object with the fields namespace, kyma and modules. Each item of modules has the " +
			"fields name, result and channel.",
		Example: "  kymactl module disable istio serverless --kyma cluster-a -n team-a --wait",
		Args:    command.Args(1, command.NoMaximum),
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.run(cmd.Context(), argument.Once(args))
		},
		ValidArgsFunction: complete.Enabled(&d.cluster, &d.kyma),
	}
	f := cmd.Flags()
	d.cluster.AddFlags(f)
	d.output.AddNamedFlag(f)
	f.StringVar(&d.kyma, "kyma", "", "`NAME` of the Kyma (default: the only Kyma in the namespace)")
	f.BoolVar(&d.wait, "wait", false, "wait until these modules are removed completely")
	f.BoolVar(&d.force, "force", false, "change the Kyma even if it belongs to a composition, which might revert the change")
	complete.Flag(cmd, "kyma", complete.Kymas(&d.cluster))
	return cmd
}

func (d *disable) run(ctx context.Context, names []string) error {
	if err := argument.CheckModules(names); err != nil {
		return err
	}
	if err := d.output.Check(); err != nil {
		return err
	}
	c, err := d.cluster.Connect(d.environment)
	if err != nil {
		return err
	}
	name, err := lookup.KymaName(ctx, c, c.Namespace, d.kyma)
	if err != nil {
		return err
	}
	done := &outcomes{Namespace: c.Namespace, Kyma: name}
	err = modify(ctx, c, c.Namespace, name, func(k *v1alpha1.Kyma, modules []any) ([]any, bool, error) {
		var after []any
		after, done.Modules = without(modules, names)
		if !done.changed() {
			return modules, false, nil
		}
		return after, true, owned(k, d.force)
	})
	if err != nil {
		return err
	}
	if err := done.write(d.environment, &d.output); err != nil {
		return err
	}
	if !d.wait {
		return nil
	}
	w := &await.Kyma{Environment: d.environment, Client: c, Namespace: c.Namespace, Name: name, Modules: names}
	return w.Removed(ctx)
}
