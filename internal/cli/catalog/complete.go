// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// completionTimeout bounds how long a shell waits for a key.
const completionTimeout = 2 * time.Second

// A completer names what an argument may be.
type completer = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective)

// complete with names out of a control plane. Without an answer there are none, as a prompt is no place for errors.
func complete(flags *command.ClusterFlags, names func(ctx context.Context, c *command.Cluster) ([]string, error)) completer {
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

// completeKymas with those of the namespace.
func completeKymas(flags *command.ClusterFlags) completer {
	return complete(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		l := &v1alpha1.KymaList{}
		err := c.List(ctx, l, client.InNamespace(c.Namespace))
		return kymaNames(l.Items), err
	})
}

// completeKyma is for commands with one argument.
func completeKyma(flags *command.ClusterFlags) completer {
	kymas := completeKymas(flags)
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return kymas(cmd, args, toComplete)
	}
}

// completeOffered with the modules that there are.
func completeOffered(flags *command.ClusterFlags) completer {
	return complete(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		offer, err := offered(ctx, c)
		return offer.names(), err
	})
}

// completeChannels with those that there are.
func completeChannels(flags *command.ClusterFlags) completer {
	return complete(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		offer, err := offered(ctx, c)
		return offer.channels(), err
	})
}

// completeEnabled with the modules that a Kyma has.
func completeEnabled(flags *command.ClusterFlags, kyma *string) completer {
	return complete(flags, func(ctx context.Context, c *command.Cluster) ([]string, error) {
		k, err := kymaOf(ctx, c, c.Namespace, *kyma)
		if err != nil {
			return nil, err
		}
		var out []string
		for i := range k.Spec.ForProvider.Modules {
			out = append(out, k.Spec.ForProvider.Modules[i].Name)
		}
		return out, nil
	})
}

// completeFlag registers a completer. That only fails for a flag that does not exist, or has one.
func completeFlag(cmd *cobra.Command, flag string, c completer) {
	if err := cmd.RegisterFlagCompletionFunc(flag, c); err != nil {
		panic(err)
	}
}
