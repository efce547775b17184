// SPDX-License-Identifier: Apache-2.0

package transfer

import (
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
)

// NewPush returns the command kymactl module push.
func NewPush(e *command.Environment) *cobra.Command {
	t := &transfer{e: e, verb: "Pushing"}
	var registry command.RegistryFlags
	var output command.Output
	c := &cobra.Command{
		Use:   "push LAYOUT REF",
		Short: "Push a module to a registry",
		Long: "Push a module from an OCI image layout to a registry. The layout is a directory or a tar file that module create or " +
			"module pull has written. You can specify LAYOUT and REF in either order: the argument that exists on disk is the " +
			"layout.\n\n" +
			"REF is the base below which modules are stored, host[:port]/path, to which the command adds the name of the component " +
			"and the version. It can also be the complete reference, host[:port]/path/component-descriptors/NAME:VERSION, which " +
			"must match the module. In tags, the + of a version is replaced by .build-.\n\n" +
			"The command first pushes referenced components that are in the layout, and charts with format helm, which are stored " +
			"next to the module as host[:port]/path/charts/NAME:VERSION. It also pushes signatures, including those of cosign. " +
			"Content that already exists in the registry is not uploaded again, so you can safely push a module twice, or push it " +
			"again to complete an interrupted push. If the registry already has this version with different content, the command " +
			"replaces nothing and fails with exit code 5, unless you set --overwrite. A module that was signed in the registry has " +
			"different content than the unsigned module. To avoid this conflict, sign the module before you push it, with module " +
			"sign or module create --key.\n\n" +
			overwriteHelp + "\n\n" +
			"The last line on stdout is the digest of the manifest, and the line before it is the reference.",
		Example: "  kymactl module push greeter registry.example.org/modules\n" +
			"  kymactl module push greeter.tar registry.example.org/modules --name-mapping sha256-digest\n" +
			"  kymactl module push greeter localhost:5000/modules -o json | jq -r .digest",
		Args: command.Args(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := t.checkMapping(); err != nil {
				return err
			}
			if err := output.Check(); err != nil {
				return err
			}
			layout, to, err := layoutAndReference(args[0], args[1])
			if err != nil {
				return err
			}
			regs, err := registry.Registries(e, hostOf(to))
			if err != nil {
				return err
			}
			b, err := bundle.Open(ctx, layout, regs)
			if err != nil {
				return err
			}
			defer b.Close()
			done, err := t.toRegistry(ctx, b, to, regs)
			if err != nil {
				return err
			}
			return t.say(ctx, b, done, "Pushed", &output)
		},
	}
	registry.AddFlags(c.Flags())
	t.addMapping(c)
	t.addOverwrite(c.Flags(), "a version in the registry")
	output.AddFlag(c.Flags(), false)
	return c
}

// layoutAndReference returns two arguments in the order layout, reference. The one that exists on disk is the layout.
func layoutAndReference(a, b string) (layout, to string, err error) {
	switch first, second := bundle.IsPath(a), bundle.IsPath(b); {
	case first && !second:
		return a, b, nil
	case second && !first:
		return b, a, nil
	case first:
		return "", "", command.Usagef("neither %q nor %q is a path in a registry: use host[:port]/path", a, b)
	}
	return "", "", command.NotFoundf("neither %q nor %q is an image layout: create one with kymactl module create", a, b)
}
