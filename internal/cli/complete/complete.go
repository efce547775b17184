// SPDX-License-Identifier: Apache-2.0

package complete

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/release"
)

// completionTimeout is the maximum duration of a completion.
const completionTimeout = 2 * time.Second

// A Completer returns the possible values of an argument or a flag.
type Completer = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective)

// Names returns a Completer for the names that a function reads from a control plane, except those that are already arguments.
// It completes nothing if the control plane does not respond.
func Names(flags *command.ClusterFlags, names func(ctx context.Context, c *command.Cluster) ([]string, error)) Completer {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		c, err := flags.Connect(nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		found, err := names(ctx, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found = slices.DeleteFunc(found, func(n string) bool { return slices.Contains(args, n) })
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// Kymas returns a Completer for the names of the Kymas in the namespace.
func Kymas(flags *command.ClusterFlags) Completer {
	return Names(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		return lookup.KymaNames(ctx, c, c.Namespace)
	})
}

// One returns a Completer that completes only the first argument, for commands that take a single one.
func One(names Completer) Completer {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(cmd, args, toComplete)
	}
}

// Offered returns a Completer for the modules that ModuleTemplates offer.
func Offered(flags *command.ClusterFlags) Completer {
	return Names(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		offer, err := catalog.Offered(ctx, c)
		return offer.Names(), err
	})
}

// Channels returns a Completer for the channels of the ModuleTemplates.
func Channels(flags *command.ClusterFlags) Completer {
	return Names(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		offer, err := catalog.Offered(ctx, c)
		return offer.Channels(), err
	})
}

// Released returns a Completer for the modules that have a ModuleReleaseMeta.
func Released(flags *command.ClusterFlags) Completer {
	return Names(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) { return release.Modules(ctx, c) })
}

// ReleaseChannels returns a Completer of a flag for the channels in the ModuleReleaseMeta of the module in the first argument.
func ReleaseChannels(flags *command.ClusterFlags) Completer {
	return ofModule(flags, func(ctx context.Context, c *command.Cluster, module string) ([]string, error) {
		m, err := release.Find(ctx, c, module)
		if err != nil {
			return nil, err
		}
		return release.Channels(m), nil
	})
}

// Versions returns a Completer of a flag for the versions that ModuleTemplates provide of the module in the first argument.
func Versions(flags *command.ClusterFlags) Completer {
	return ofModule(flags, func(ctx context.Context, c *command.Cluster, module string) ([]string, error) {
		offer, err := catalog.Offered(ctx, c)
		return offer.Of(module).Versions(), err
	})
}

// ofModule returns a Completer for the names that belong to the module in the first argument.
func ofModule(flags *command.ClusterFlags, names func(ctx context.Context, c *command.Cluster, module string) ([]string, error)) Completer {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return Names(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
			return names(ctx, c, args[0])
		})(cmd, nil, toComplete)
	}
}

// Enabled returns a Completer for the modules that a Kyma enables. kyma can point to an empty name, see lookup.KymaName.
func Enabled(flags *command.ClusterFlags, kyma *string) Completer {
	return Names(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		k, err := lookup.Kyma(ctx, c, c.Namespace, *kyma)
		if err != nil {
			return nil, err
		}
		return catalog.EnabledNames(k), nil
	})
}

// EnabledIn returns a Completer of a flag for the modules of the Kyma that the arguments of the command name. kymaOf returns the
// name of the Kyma, and false if the arguments name something else.
func EnabledIn(flags *command.ClusterFlags, kymaOf func(args []string) (string, bool)) Completer {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		kyma, ok := kymaOf(args)
		if !ok {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return Enabled(flags, &kyma)(cmd, nil, toComplete)
	}
}

// Flag registers a completer for a flag. It panics if the flag does not exist or already has a completer.
func Flag(cmd *cobra.Command, flag string, c Completer) {
	if err := cmd.RegisterFlagCompletionFunc(flag, c); err != nil {
		panic(err)
	}
}
