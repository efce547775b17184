// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/controlplane"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/install"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/kyma"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/manifest"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/module"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/rollout"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/version"
	build "github.com/crossplane-contrib/provider-kyma/internal/version"
)

// Run executes the command line args, without the name of the program, and returns the exit code. If ctx ends, it returns early
// with ExitFailure.
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
	c, err := root.ExecuteContextC(ctx)
	if err != nil && !started {
		// Cobra rejects unknown commands and flags, and wrong numbers of arguments, before it runs a command.
		err = command.WithCode(command.ExitUsage, err)
	}
	return report(ctx, e, c, err)
}

// each calls do for c, unless it only groups other commands, and for each command below c.
func each(c *cobra.Command, do func(*cobra.Command)) {
	if c.RunE != nil {
		do(c)
	}
	for _, sub := range c.Commands() {
		each(sub, do)
	}
}

// limit returns a context that ends after the timeout of e.
func limit(ctx context.Context, e *command.Environment) (context.Context, context.CancelFunc, error) {
	switch {
	case e.Timeout < 0:
		return nil, nil, command.Usagef("--timeout is %s: use 0 for no limit, or a positive duration", e.Timeout)
	case e.Timeout == 0:
		return ctx, func() {}, nil
	}
	limited, cancel := context.WithTimeout(ctx, e.Timeout)
	return limited, cancel, nil
}

// report prints the error of a command, if any, and returns its exit code. For a usage error, it names the help of the command.
func report(ctx context.Context, e *command.Environment, c *cobra.Command, err error) command.ExitCode {
	code := command.CodeOf(err)
	switch {
	case code == command.ExitOK:
		return code
	case code == command.ExitTimeout:
		e.Failf("%s (--timeout is %s)", line(err), e.Timeout)
	case ctx.Err() != nil:
		e.Failf("interrupted: run the command again to complete it")
		return command.ExitFailure
	default:
		e.Failf("%s", line(err))
	}
	if code == command.ExitUsage {
		e.Sayf("See '%s --help'.", c.CommandPath())
	}
	return code
}

// line returns the message of an error on a single line, because scripts read stderr line by line.
func line(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// New returns the kymactl command with all its subcommands.
func New(e *command.Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "kymactl",
		Short: "Build, sign, distribute and run modules",
		Long: "kymactl builds modules from charts and manifests, signs them, distributes them as OCI artifacts, " +
			"and runs them in clusters through a control plane with provider-kyma.\n\n" +
			"Data goes to stdout, everything else to stderr.\n\n" +
			"Exit codes: 0 success, 1 failure, 2 usage error, 3 not found, 4 verification failed, 5 exists with different content, 6 timeout, " +
			"7 changes (plan --exit-code), 8 rollout failed (rollout status --watch).",
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
	f.BoolVarP(&e.Quiet, "quiet", "q", false, "print only data, warnings and errors")
	f.DurationVar(&e.Timeout, "timeout", command.DefaultTimeout, "maximum `DURATION` of the whole command, such as 90s or 10m; 0 means no limit")

	modules := &cobra.Command{
		Use: "module", Aliases: []string{"modules"}, Short: "Build, sign, distribute, list, enable and disable modules",
		Args: subcommand, RunE: group,
	}
	modules.AddCommand(module.Commands(e)...)
	rollouts := &cobra.Command{
		Use: "rollout", Aliases: []string{"rollouts"}, Short: "Show and control how a fleet changes to a new version of a module",
		Args: subcommand, RunE: group,
	}
	rollouts.AddCommand(rollout.Commands(e)...)
	root.AddCommand(modules, rollouts, kyma.NewStatus(e), kyma.NewWait(e), manifest.NewPlan(e), manifest.NewTest(e))
	root.AddCommand(install.New(e), controlplane.NewDeploy(e), controlplane.NewUndeploy(e), version.Command(e))
	root.SetHelpCommand(helpCommand())
	arrange(root, modules, rollouts)
	each(root, func(c *cobra.Command) { c.Long = command.Wrap(c.Long, width) })
	return root
}

// group prints the help of a command that only groups other commands.
func group(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// helpCommand returns the command help. For an unknown command, it returns a usage error, while the help command of cobra
// prints the help.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if err := subcommand(found, rest); err != nil {
				return err
			}
			found.InitDefaultHelpFlag()
			found.InitDefaultVersionFlag()
			return found.Help()
		},
	}
}

// normalise accepts underscores instead of dashes in the names of flags, as kubectl does.
func normalise(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
}
