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
)

// completionTimeout bounds how long a shell waits for a key.
const completionTimeout = 2 * time.Second

// A Completer names what an argument may be.
type Completer = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective)

// Names completes with names out of a control plane. Without an answer there are none, as errors do not belong into a prompt.
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

// Kymas completes with those of the namespace.
func Kymas(flags *command.ClusterFlags) Completer {
	return Names(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		return lookup.KymaNames(ctx, c, c.Namespace)
	})
}

// One completes the first argument only, for commands that take no other one.
func One(names Completer) Completer {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(cmd, args, toComplete)
	}
}

// Offered completes with the modules that there are.
func Offered(flags *command.ClusterFlags) Completer {
	return Names(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		offer, err := catalog.Offered(ctx, c)
		return offer.Names(), err
	})
}

// Channels completes with those that there are.
func Channels(flags *command.ClusterFlags) Completer {
	return Names(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		offer, err := catalog.Offered(ctx, c)
		return offer.Channels(), err
	})
}

// Enabled completes with the modules that a Kyma has.
func Enabled(flags *command.ClusterFlags, kyma *string) Completer {
	return Names(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		k, err := lookup.Kyma(ctx, c, c.Namespace, *kyma)
		if err != nil {
			return nil, err
		}
		return catalog.EnabledNames(k), nil
	})
}

// EnabledIn completes with the modules of the Kyma that the arguments of a command name. The arguments themselves are not modules.
func EnabledIn(flags *command.ClusterFlags, kymaOf func(args []string) (string, bool)) Completer {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		kyma, ok := kymaOf(args)
		if !ok {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return Enabled(flags, &kyma)(cmd, nil, toComplete)
	}
}

// Flag registers a completer. That only fails for a flag that does not exist, or has one.
func Flag(cmd *cobra.Command, flag string, c Completer) {
	if err := cmd.RegisterFlagCompletionFunc(flag, c); err != nil {
		panic(err)
	}
}
