// SPDX-License-Identifier: Apache-2.0

package enable

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/await"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

// enable holds the flags of kymactl module enable.
type enable struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	kyma        string
	values      string
	// installValues is a list of arguments of the form INSTALL=FILE.
	installValues []string
	wait          bool
	settings      settings
}

// Command returns the command kymactl module enable.
func Command(e *command.Environment) *cobra.Command {
	n := &enable{environment: e}
	cmd := &cobra.Command{
		Use:        "enable NAME...",
		SuggestFor: []string{"add"},
		Short:      "Enable modules in a Kyma, or change their settings",
		Long: "Enable modules in a Kyma, all in a single write. If a module is already enabled, only the settings that you specify " +
			"are changed. For example, without --channel, a module keeps its own channel, or follows the channel of the Kyma if it " +
			"has none. If nothing changes, nothing is written, so you can safely enable a module again. Concurrent changes to the " +
			"Kyma are safe.\n\n" +
			"Each module must have a ModuleTemplate in its channel. Otherwise, the command changes no module, lists the channels " +
			"that offer the module, and fails with exit code 3. Use --allow-missing for modules whose ModuleTemplates you create " +
			"later. If a channel offers a lower version than the installed one, the command prints a warning, and the provider " +
			"keeps the installed version.\n\n" +
			"If the Kyma belongs to a Crossplane composition, the command fails, because the composition would revert the change. " +
			"Change the claim instead, or use --force.\n\n" +
			"For each module, the command prints a line that says whether the module was enabled, was changed or is unchanged. " +
			"With --output json or yaml, the command prints an object with the fields namespace, kyma and modules. Each item of " +
			"modules has the fields name, result and channel.",
		Example: "  kymactl module enable istio serverless --kyma cluster-a -n team-a --wait\n" +
			"  kymactl module enable istio --channel fast\n" +
			"  kymactl module enable monitoring --values values.yaml --install-values grafana=grafana.yaml",
		Args: command.Args(1, command.NoMaximum),
		RunE: func(cmd *cobra.Command, args []string) error {
			n.settings.names = argument.Once(args)
			return n.run(cmd.Context())
		},
		ValidArgsFunction: complete.Offered(&n.cluster),
	}
	f := cmd.Flags()
	n.cluster.AddFlags(f)
	n.output.AddNamedFlag(f)
	f.StringVar(&n.kyma, "kyma", "", "`NAME` of the Kyma (default: the only Kyma in the namespace)")
	f.StringVarP(&n.settings.channel, "channel", "c", "", "`CHANNEL` of the modules (default: their own channel, or the channel of the Kyma)")
	f.StringVar(&n.settings.policy, "custom-resource-policy", "", "`POLICY` for the default custom resource: CreateAndDelete creates and deletes "+
		"it with the module, with Ignore, you manage it yourself (default CreateAndDelete for new modules)")
	f.StringVar(&n.values, "values", "", "`FILE` with values for the charts of one module, which replace its current values; "+
		"an empty file removes all values; - means stdin")
	f.StringArrayVar(&n.installValues, "install-values", nil, "`INSTALL=FILE` with values for one chart of the module, which replace its current values "+
		"and override --values; can be repeated")
	f.BoolVar(&n.wait, "wait", false, "wait until these modules are Ready")
	f.BoolVar(&n.settings.missing, "allow-missing", false, "enable modules that have no ModuleTemplate yet")
	f.BoolVar(&n.settings.force, "force", false, "change the Kyma even if it belongs to a composition, which might revert the change")
	complete.Flag(cmd, "kyma", complete.Kymas(&n.cluster))
	complete.Flag(cmd, "channel", complete.Channels(&n.cluster))
	complete.Flag(cmd, "custom-resource-policy", cobra.FixedCompletions(policies(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// policies returns the values of --custom-resource-policy.
func policies() []string {
	return []string{string(v1alpha1.CustomResourcePolicyCreateAndDelete), string(v1alpha1.CustomResourcePolicyIgnore)}
}

// check validates the command line. Its errors have the exit code ExitUsage.
func (n *enable) check() error {
	if err := argument.CheckModules(n.settings.names); err != nil {
		return err
	}
	if err := argument.CheckChannel(n.settings.channel); err != nil {
		return err
	}
	switch v1alpha1.CustomResourcePolicy(n.settings.policy) {
	case "", v1alpha1.CustomResourcePolicyCreateAndDelete, v1alpha1.CustomResourcePolicyIgnore:
	default:
		return command.Usagef("--custom-resource-policy is %q: use CreateAndDelete or Ignore", n.settings.policy)
	}
	return n.output.Check()
}

// readValues reads the values from the files of --values and --install-values. Its errors have the exit code ExitUsage.
func (n *enable) readValues() error {
	if n.values == "" && len(n.installValues) == 0 {
		return nil
	}
	if len(n.settings.names) > 1 {
		return command.Usagef("values apply to a single module, but %d modules are specified: enable them one at a time", len(n.settings.names))
	}
	stdin := 0
	read := func(flag, file string) (map[string]any, error) {
		if file == "-" {
			stdin++
		}
		if stdin > 1 {
			return nil, command.Usagef("%s: only one values file can be read from stdin", flag)
		}
		return argument.ReadObject(n.environment.In, flag, file, argument.Values)
	}
	var err error
	if n.values != "" {
		if n.settings.values, err = read("--values", n.values); err != nil {
			return err
		}
	}
	n.settings.installs, err = readInstalls(n.installValues, read)
	return err
}

// readInstalls reads the values from the files of --install-values, keyed by the name of the install.
func readInstalls(flags []string, read func(flag, file string) (map[string]any, error)) (map[string]map[string]any, error) {
	const flag = "--install-values"
	out := map[string]map[string]any{}
	for _, v := range flags {
		install, file, _ := strings.Cut(v, "=")
		if install == "" || file == "" {
			return nil, command.Usagef(flag+" is %q: use INSTALL=FILE", v)
		}
		if out[install] != nil {
			return nil, command.Usagef(flag+" specifies install %q twice", install)
		}
		values, err := read(flag, file)
		if err != nil {
			return nil, err
		}
		out[install] = values
	}
	return out, nil
}

func (n *enable) run(ctx context.Context) error {
	if err := n.check(); err != nil {
		return err
	}
	if err := n.readValues(); err != nil {
		return err
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
	var last *effect
	err = modify(ctx, c, c.Namespace, name, func(k *v1alpha1.Kyma, modules []any) ([]any, bool, error) {
		after, f, err := n.settings.apply(k, modules, offer)
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
	w := &await.Kyma{Environment: n.environment, Client: c, Namespace: c.Namespace, Name: name, Modules: n.settings.names}
	return w.Ready(ctx)
}
