// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/open"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
)

type inspectFlags struct {
	registry    command.RegistryFlags
	output      command.Output
	descriptor  bool
	showObjects bool
}

// Command returns the command kymactl module inspect.
func Command(e *command.Environment) *cobra.Command {
	f := &inspectFlags{}
	c := &cobra.Command{
		Use:     "inspect MODULE",
		Aliases: []string{"show"},
		Short:   "Show details of a module and what it installs",
		Long: "Show the name, version, digest and origin of a module, its layers, its signatures (without verifying them), the " +
			"objects that it installs with the default values of its charts, and the images that these objects run.\n\n" +
			open.ReferenceHelp + "\n\n" +
			"Charts are rendered for an empty cluster that runs Kubernetes " + bundle.KubeVersion +
			". A chart that cannot be rendered without additional values is not an error: the output shows the reason instead of " +
			"the objects.",
		Example: "  kymactl module inspect registry.example.org/modules//example.org/module/greeter:1.0.0\n" +
			"  kymactl module inspect ./greeter.tar -o jsonpath='{.images}'\n" +
			"  kymactl module inspect ./greeter.tar --show-objects",
		Args: command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), e, args[0])
		},
	}
	f.registry.AddFlags(c.Flags())
	f.output.AddFlag(c.Flags(), false)
	c.Flags().BoolVar(&f.descriptor, "descriptor", false, "write only the component descriptor, unchanged")
	c.Flags().BoolVar(&f.showObjects, "show-objects", false,
		"write only the objects that the module installs, as YAML, including Secrets")
	return c
}

func (f *inspectFlags) run(ctx context.Context, e *command.Environment, reference string) error {
	if f.descriptor && f.showObjects {
		return command.Usagef("--descriptor cannot be used with --show-objects: use one of them")
	}
	if err := f.output.Check(); err != nil {
		return err
	}
	if (f.descriptor || f.showObjects) && !f.output.Table() {
		return command.Usagef("--descriptor and --show-objects have their own format: omit --output")
	}
	b, err := open.Module(ctx, e, &f.registry, reference)
	if err != nil {
		return err
	}
	defer b.Close()
	switch {
	case f.descriptor:
		return e.Print("%s", b.Descriptor().JSON())
	case f.showObjects:
		return writeObjects(ctx, e, b)
	}
	i, err := inspect(ctx, b)
	if err != nil {
		return err
	}
	return f.output.Write(e.Out, i, i.table)
}

// writeObjects writes the objects of a module as a YAML stream, in the order of their installation. It warns about installs that
// cannot be rendered.
func writeObjects(ctx context.Context, e *command.Environment, b *bundle.Bundle) error {
	installs, err := bundle.Installs(ctx, b)
	if len(installs) == 0 && err != nil {
		return err
	}
	for i := range installs {
		in := &installs[i]
		if in.Err != nil {
			e.Warnf("install %s is omitted: %s", in.Name, in.Err)
			continue
		}
		for _, u := range in.Objects {
			data, err := yaml.Marshal(u.Object)
			if err != nil {
				return err
			}
			if _, err := e.Out.Write(append([]byte("---\n"), data...)); err != nil {
				return err
			}
		}
	}
	return nil
}
