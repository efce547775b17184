// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/open"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/printable"
)

type diffFlags struct {
	registry command.RegistryFlags
	output   command.Output
	exitCode bool
}

// NewDiff returns the command kymactl module diff.
func NewDiff(e *command.Environment) *cobra.Command {
	f := &diffFlags{}
	c := &cobra.Command{
		Use:   "diff FROM TO",
		Short: "Show what changes between two versions of a module",
		Long: "Show which objects are added (+), removed (-) and changed (~, field by field) between two versions of a module, " +
			"rendered with the default values of their charts. Also show changes to these values, to the images, and to the " +
			"versions that CRDs serve. The output is sorted, so identical modules produce identical output. The data of Secrets is " +
			"compared, but never shown.\n\n" + open.ReferenceHelp + "\n\n" +
			"--username applies to the first of the two modules that is in a registry.\n\n" +
			"If a chart renders different objects each time, for example because it generates a password, these objects are always " +
			"shown as changed. If a chart cannot be rendered without additional values, the command prints a warning and does not " +
			"compare its objects.",
		Example: "  kymactl module diff registry.example.org/modules//example.org/module/greeter:1.0.0 ./greeter.tar\n" +
			"  kymactl module diff --exit-code old.tar new.tar",
		Args: command.Args(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), e, args[0], args[1])
		},
	}
	f.registry.AddFlags(c.Flags())
	f.output.AddFlag(c.Flags(), false)
	c.Flags().BoolVar(&f.exitCode, "exit-code", false, "exit with code 1 if the modules differ or cannot be compared completely")
	return c
}

func (f *diffFlags) run(ctx context.Context, e *command.Environment, from, to string) error {
	if err := f.output.Check(); err != nil {
		return err
	}
	regs, err := open.Registries(e, &f.registry, from, to)
	if err != nil {
		return err
	}
	a, err := openSide(ctx, e, from, regs)
	if err != nil {
		return err
	}
	b, err := openSide(ctx, e, to, regs)
	if err != nil {
		return err
	}
	d := difference(a, b)
	for _, p := range d.Problems {
		e.Warnf("not compared: %s", printable.Text(p, ""))
	}
	if err := f.output.Write(e.Out, d, d.table); err != nil {
		return err
	}
	if d.same() && len(d.Problems) == 0 {
		e.Sayf("Found no differences.")
		return nil
	}
	if !f.exitCode {
		return nil
	}
	if d.same() {
		return errors.New("the modules cannot be compared completely")
	}
	return errors.New("the modules differ")
}

func openSide(ctx context.Context, e *command.Environment, reference string, regs oci.Registries) (*side, error) {
	b, err := bundle.Open(ctx, reference, regs)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	b.Renderer = e.Renderer
	return sideOf(ctx, b)
}
