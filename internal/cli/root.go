// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/controlplane"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/kyma"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/manifest"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/version"
	build "github.com/crossplane-contrib/provider-kyma/internal/version"
)

// Run a command line, without the name of the program, and return what to exit
// with. It returns early where ctx ends.
func Run(ctx context.Context, e *command.Environment, args []string) command.ExitCode {
	root := New(e) //nolint:contextcheck // Commands get theirs from cobra.
	root.SetArgs(args)
	started := false
	each(root, func(c *cobra.Command) { //nolint:contextcheck // See above.
		run := c.RunE
		c.RunE = func(cmd *cobra.Command, args []string) error {
			started = true
			limited, cancel, err := limit(cmd.Context(), e)
			if err != nil {
				return err
			}
			defer cancel()
			cmd.SetContext(limited)
			e.Limit(limited)
			return run(cmd, args)
		}
	})
	err := root.ExecuteContext(ctx)
	if err != nil && !started {
		// Cobra itself refuses unknown commands and flags, and wrong numbers of arguments.
		err = command.WithCode(command.ExitUsage, err)
	}
	return report(ctx, e, err)
}

// each command that does something.
func each(c *cobra.Command, do func(*cobra.Command)) {
	if c.RunE != nil {
		do(c)
	}
	for _, sub := range c.Commands() {
		each(sub, do)
	}
}

// limit a command to its time.
func limit(ctx context.Context, e *command.Environment) (context.Context, context.CancelFunc, error) {
	switch {
	case e.Timeout < 0:
		return nil, nil, command.Usagef("--timeout is %s: want 0 for none, or more", e.Timeout)
	case e.Timeout == 0:
		return ctx, func() {}, nil
	}
	limited, cancel := context.WithTimeout(ctx, e.Timeout)
	return limited, cancel, nil
}

func report(ctx context.Context, e *command.Environment, err error) command.ExitCode {
	code := command.CodeOf(err)
	switch {
	case code == command.ExitOK:
		return code
	case code == command.ExitTimeout:
		e.Failf("%s (--timeout is %s)", line(err), e.Timeout)
	case ctx.Err() != nil:
		e.Failf("interrupted: run it again to complete it")
		return command.ExitFailure
	default:
		e.Failf("%s", line(err))
	}
	if code == command.ExitUsage {
		e.Sayf("See 'kymactl --help' and 'kymactl COMMAND --help'.")
	}
	return code
}

// line is an error in one line, as scripts read it.
func line(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// New returns the command kymactl with all commands below it.
func New(e *command.Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "kymactl",
		Short: "Make, sign, ship and run modules",
		Long: "kymactl makes modules of charts and manifests, signs them, ships them as OCI artifacts, " +
			"and runs them in clusters by way of a control plane with provider-kyma.\n\n" +
			"Data is written to stdout, and everything else to stderr.\n\n" +
			"Exit codes: 0 ok, 1 failure, 2 wrong usage, 3 not found, 4 verification failed, 5 exists with other content, 6 timeout, " +
			"7 changes (plan --exit-code).",
		Version:       build.Installed(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          subcommand,
		RunE:          group,
	}
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetGlobalNormalizationFunc(normalise)
	root.SetFlagErrorFunc(explainFlag)
	f := root.PersistentFlags()
	f.BoolVarP(&e.Quiet, "quiet", "q", false, "write nothing but data, warnings and errors")
	f.DurationVar(&e.Timeout, "timeout", command.DefaultTimeout, "`TIME` for the whole command, such as 90s or 10m; 0 is no limit")

	modules := &cobra.Command{
		Use: "module", Aliases: []string{"modules"}, Short: "Make, sign, ship, list, enable and disable modules",
		Args: subcommand, RunE: group,
	}
	modules.AddCommand(module.Commands(e)...)
	root.AddCommand(modules, kyma.NewStatus(e), kyma.NewWait(e), manifest.NewPlan(e), manifest.NewTest(e))
	root.AddCommand(controlplane.NewDeploy(e), controlplane.NewUndeploy(e), version.Command(e))
	arrange(root, modules)
	each(root, func(c *cobra.Command) { c.Long = command.Wrap(c.Long, width) })
	return root
}

// group prints the help of a command that only has commands below it.
func group(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// normalise lets flags be written with _ for -, as kubectl does.
func normalise(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
}
