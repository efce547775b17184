// SPDX-License-Identifier: Apache-2.0

package enable

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/await"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

// enable is what module enable is asked for.
type enable struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	kyma        string
	values      string
	wait        bool
	wish        wish
}

// Command makes kymactl module enable.
func Command(e *command.Environment) *cobra.Command {
	n := &enable{environment: e}
	cmd := &cobra.Command{
		Use:        "enable NAME...",
		SuggestFor: []string{"add"},
		Short:      "Enable modules in a Kyma, or change them",
		Long: "Add modules to a Kyma, all of them in one write. A module that is enabled already is changed in place, and what no flag names " +
			"stays as it is: without --channel it keeps its channel, or follows that of the Kyma if it has none of its own. Where nothing differs nothing " +
			"is written, so that enabling again does no harm. Any number of writers at once lose nothing.\n\n" +
			"Each module must have a ModuleTemplate in its channel, or else nothing is changed for any of them, and the message names the channels that it has " +
			"(exit code 3); --allow-missing is for modules whose ModuleTemplates come later. A channel with a lower version than the one that is installed " +
			"is warned about: the provider goes on with what is installed.\n\n" +
			"A Kyma that a Crossplane composition makes is refused, as the composition would undo the change: change the claim, or use --force.\n\n" +
			"A line for each module says whether it was enabled, changed, or is unchanged. --output json and yaml write one object with namespace, kyma " +
			"and the list \"modules\" of name, result and channel.",
		Example: "  kymactl module enable istio serverless --kyma cluster-a -n team-a --wait\n" +
			"  kymactl module enable istio --channel fast\n" +
			"  kymactl module enable monitoring --values values.yaml",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n.wish.names = argument.Once(args)
			return n.run(cmd.Context())
		},
		ValidArgsFunction: complete.Offered(&n.cluster),
	}
	f := cmd.Flags()
	n.cluster.AddFlags(f)
	n.output.AddNamedFlag(f)
	f.StringVar(&n.kyma, "kyma", "", "`NAME` of the Kyma; default the only one of the namespace")
	f.StringVarP(&n.wish.channel, "channel", "c", "", "`CHANNEL` of the modules; default that which they have, or that of the Kyma")
	f.StringVar(&n.wish.policy, "custom-resource-policy", "", "`POLICY` CreateAndDelete creates and removes the default custom resource with the module, "+
		"Ignore leaves it to others; default CreateAndDelete for modules that are new")
	f.StringVar(&n.values, "values", "", "`FILE` with values for the charts of one module, - is stdin; "+
		"they replace those that it has, and an empty file takes them out")
	f.BoolVar(&n.wait, "wait", false, "wait until these modules are Ready")
	f.BoolVar(&n.wish.missing, "allow-missing", false, "enable modules that have no ModuleTemplate yet")
	f.BoolVar(&n.wish.force, "force", false, "change a Kyma that a composition makes, which may undo it")
	complete.Flag(cmd, "kyma", complete.Kymas(&n.cluster))
	complete.Flag(cmd, "channel", complete.Channels(&n.cluster))
	complete.Flag(cmd, "custom-resource-policy", cobra.FixedCompletions(policies(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func policies() []string {
	return []string{string(v1alpha1.CustomResourcePolicyCreateAndDelete), string(v1alpha1.CustomResourcePolicyIgnore)}
}

func (n *enable) check() error {
	if err := argument.CheckModules(n.wish.names); err != nil {
		return err
	}
	if err := argument.CheckChannel(n.wish.channel); err != nil {
		return err
	}
	switch v1alpha1.CustomResourcePolicy(n.wish.policy) {
	case "", v1alpha1.CustomResourcePolicyCreateAndDelete, v1alpha1.CustomResourcePolicyIgnore:
	default:
		return command.Usagef("--custom-resource-policy is %q: want CreateAndDelete or Ignore", n.wish.policy)
	}
	if n.values != "" && len(n.wish.names) > 1 {
		return command.Usagef("--values are those of one module, but there are %d: enable them one after the other", len(n.wish.names))
	}
	return n.output.Check()
}

func (n *enable) run(ctx context.Context) error {
	if err := n.check(); err != nil {
		return err
	}
	if n.values != "" {
		var err error
		if n.wish.values, err = argument.ReadObject(n.environment.In, "--values", n.values, argument.Values); err != nil {
			return err
		}
	}
	c, err := n.cluster.Connect(n.environment)
	if err != nil {
		return err
	}
	name, err := lookup.KymaName(ctx, c, c.Namespace, n.kyma)
	if err != nil {
		return err
	}
	offer, err := catalog.Offered(ctx, c)
	if err != nil {
		return err
	}
	var last *fulfilment
	err = modify(ctx, c, c.Namespace, name, func(k *v1alpha1.Kyma, modules []any) ([]any, bool, error) {
		after, f, err := n.wish.fulfil(k, modules, offer)
		if err != nil {
			return nil, false, err
		}
		last = f
		return after, (&outcomes{Modules: f.outcomes}).changed(), nil
	})
	if err != nil {
		return err
	}
	for _, w := range last.warnings {
		n.environment.Warnf("%s", w)
	}
	done := &outcomes{Namespace: c.Namespace, Kyma: name, Modules: last.outcomes}
	if err := done.write(n.environment, &n.output); err != nil {
		return err
	}
	if !n.wait {
		return nil
	}
	w := &await.Kyma{Environment: n.environment, Client: c, Namespace: c.Namespace, Name: name, Modules: n.wish.names}
	return w.Ready(ctx)
}
