// SPDX-License-Identifier: Apache-2.0

package transfer

import (
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/file"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/open"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// NewCopy returns the command kymactl module copy.
func NewCopy(e *command.Environment) *cobra.Command {
	t := &transfer{e: e, verb: "Copying"}
	var registry command.RegistryFlags
	var output command.Output
	c := &cobra.Command{
		Use:   "copy SRC DST",
		Short: "Copy a module from one registry to another, byte for byte",
		Long: "Copy a module with everything that belongs to it: referenced components, signatures including those of cosign, and " +
			"other attachments. The content is copied byte for byte, so the digest does not change and signatures stay valid.\n\n" +
			"SRC is the reference of a module or the path of an OCI image layout. DST is one of the following: the base below which " +
			"modules are stored, host[:port]/path; a complete reference; or the path of a layout. A layout is a directory, or a " +
			"file that ends in .tar, .tar.gz or .tgz. If the directory does not exist yet, its path must begin with ./ or /.\n\n" +
			"Content that already exists in the destination is not written again. To complete an interrupted copy, run the command " +
			"again. If the destination already has this version with different content, the command replaces nothing and fails with " +
			"exit code 5, unless you set --overwrite.\n\n" +
			overwriteHelp + "\n\n" +
			"--username and --password-stdin apply to the registry of DST, or to the registry of SRC if DST is a layout. The Docker " +
			"configuration, --registry-config, and the flags for TLS and plain HTTP apply to both.\n\n" +
			"The last line on stdout is the digest of the manifest, and the line before it is the new location of the module.",
		Example: "  kymactl module copy registry.example.org/modules/component-descriptors/example.org/module/greeter:1.0.0 mirror.example.org/modules\n" +
			"  kymactl module copy registry.example.org/modules//example.org/module/greeter:1.0.0 ./greeter.tar",
		Args: command.Args(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			from, to := args[0], args[1]
			if err := t.checkMapping(); err != nil {
				return err
			}
			if err := file.CheckLayout(to, &output); err != nil {
				return err
			}
			path := bundle.IsPath(to)
			regs, err := registriesOfCopy(e, &registry, from, to)
			if err != nil {
				return err
			}
			b, err := bundle.Open(ctx, from, regs)
			if err != nil {
				return err
			}
			defer b.Close()
			var done *destination
			if path {
				done, err = t.toLayout(ctx, b, to)
			} else {
				done, err = t.toRegistry(ctx, b, to, regs)
			}
			if err != nil {
				return err
			}
			return t.say(ctx, b, done, "Copied", &output)
		},
	}
	registry.AddFlags(c.Flags())
	t.addMapping(c)
	t.addOverwrite(c.Flags(), "a version in the destination")
	output.AddFlag(c.Flags(), false)
	return c
}

// registriesOfCopy returns the registry configuration for both references. --username applies to the destination, or to the
// source if the destination is a layout.
func registriesOfCopy(e *command.Environment, f *command.RegistryFlags, from, to string) (oci.Registries, error) {
	if bundle.IsPath(to) {
		return open.Registries(e, f, from)
	}
	// bundle.Open reports an invalid reference.
	host, _ := bundle.Host(from)
	return f.Registries(e, hostOf(to), host)
}
