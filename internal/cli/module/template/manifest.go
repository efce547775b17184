// SPDX-License-Identifier: Apache-2.0

package template

import (
	"context"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/open"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
)

// manifestFlags holds the flags of kymactl module manifest.
type manifestFlags struct {
	registry  command.RegistryFlags
	where     locationFlags
	name      string
	namespace string
	config    string
	file      string
}

// NewManifest returns the command kymactl module manifest.
func NewManifest(e *command.Environment) *cobra.Command {
	f := &manifestFlags{}
	c := &cobra.Command{
		Use:   "manifest MODULE",
		Short: "Write the Manifest that installs a module in one cluster",
		Long: "Write the Manifest that installs a module in the cluster of a ProviderConfig, as YAML for kubectl apply. You need " +
			"neither a Kyma nor a ModuleTemplate, because the Manifest contains the default custom resource and the sources of all " +
			"installs, CRDs and configuration. The component and each of its layers are pinned by digest. Charts use their default " +
			"values. To override them, set installs[].values.\n\n" + open.ReferenceHelp + locationHelp + "\n\n" +
			"The same module and flags always produce identical output.",
		Example: "  kymactl module manifest registry.example.org/modules//example.org/module/greeter:1.0.0 \\\n" +
			"    -n team-a --provider-config cluster-a | kubectl apply -f -\n" +
			"  kymactl module manifest ./greeter.tar --repository registry.example.org/modules --name hello -o greeter.yaml",
		Args: command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), e, args[0])
		},
	}
	f.registry.AddFlags(c.Flags())
	f.where.addFlags(c.Flags())
	c.Flags().StringVar(&f.name, "name", "", "`NAME` of the Manifest (default: the name of the module)")
	c.Flags().StringVarP(&f.namespace, "namespace", "n", "", "`NAMESPACE` of the Manifest (default: none, so that kubectl apply uses its current namespace)")
	c.Flags().StringVar(&f.config, "provider-config", "default", "`NAME` of the ProviderConfig in the namespace of the Manifest")
	c.Flags().StringVarP(&f.file, "output", "o", "", "`FILE` to write to (default -, which means stdout)")
	return c
}

// check validates the flags. Its errors have the exit code ExitUsage.
func (f *manifestFlags) check() error {
	for _, name := range []struct{ flag, value string }{{"--name", f.name}, {"--provider-config", f.config}} {
		if name.value != "" && len(validation.IsDNS1123Subdomain(name.value)) > 0 {
			return command.Usagef("%s %q: use at most 253 lowercase letters, digits, '-' or '.'", name.flag, name.value)
		}
	}
	if f.config == "" {
		return command.Usagef("--provider-config must not be empty")
	}
	if f.namespace != "" && len(validation.IsDNS1123Label(f.namespace)) > 0 {
		return command.Usagef("--namespace %q: use at most 63 lowercase letters, digits or '-'", f.namespace)
	}
	return f.where.check()
}

func (f *manifestFlags) run(ctx context.Context, e *command.Environment, reference string) error {
	if err := f.check(); err != nil {
		return err
	}
	b, err := open.Module(ctx, e, &f.registry, reference)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := f.where.locate(b); err != nil {
		return err
	}
	m, err := bundle.Manifest(ctx, b)
	if err != nil {
		return err
	}
	m.Namespace = f.namespace
	if f.name != "" {
		m.Name = f.name
	}
	m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ProviderConfigKind, Name: f.config}
	return write(e, f.file, m)
}
