// SPDX-License-Identifier: Apache-2.0

package transfer

import (
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
)

// NewPush makes kymactl module push.
func NewPush(e *command.Environment) *cobra.Command {
	t := &transfer{e: e, verb: "Pushing"}
	var registry command.RegistryFlags
	var output command.Output
	c := &cobra.Command{
		Use:   "push LAYOUT REF",
		Short: "Push a module to a registry",
		Long: "Push the module of an OCI image layout, a folder or a tar as module create and module pull write it, to a registry. " +
			"Layout and reference may stand in either order: what exists on disk is the layout.\n\n" +
			"REF is the base that modules lie below, host[:port]/path, to which the name of the component and the version are added; " +
			"or the whole reference, host[:port]/path/component-descriptors/NAME:VERSION, which must then fit the module. " +
			"In a tag the + of a version is written .build-.\n\n" +
			"Components that the module references and that are in the layout are pushed first, and so are charts of format helm, " +
			"which lie beside the module: host[:port]/path/charts/NAME:VERSION. Signatures are pushed along, also those of cosign. " +
			"What the registry has already is not sent again, so that pushing twice changes nothing and succeeds, and so that " +
			"a push that was interrupted is completed by another one. If the registry has the version with other content, " +
			"nothing is replaced and the exit code is 5, unless --overwrite is given. A module that was signed in the registry is other " +
			"content than the same one unsigned: sign before pushing, with module sign or module create --key.\n\n" +
			"The last line on stdout is the digest of the manifest, and the line before it the reference.",
		Example: "  kymactl module push greeter registry.example.org/modules\n" +
			"  kymactl module push greeter.tar registry.example.org/modules --name-mapping sha256-digest\n" +
			"  kymactl module push greeter localhost:5000/modules -o json | jq -r .digest",
		Args: cobra.ExactArgs(2),
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

// layoutAndReference tells which of two arguments is which.
func layoutAndReference(a, b string) (layout, to string, err error) {
	switch first, second := bundle.IsPath(a), bundle.IsPath(b); {
	case first && !second:
		return a, b, nil
	case second && !first:
		return b, a, nil
	case first:
		return "", "", command.Usagef("neither %q nor %q is a path in a registry: want host[:port]/path", a, b)
	}
	return "", "", command.NotFoundf("there is no image layout %q, nor %q: make one with kymactl module create", a, b)
}
