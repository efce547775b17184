// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/await"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/release"
)

// status holds the flags of kymactl rollout status.
type status struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	channel     string
	watch       bool
}

// NewStatus returns the command kymactl rollout status.
func NewStatus(e *command.Environment) *cobra.Command {
	s := &status{environment: e}
	cmd := &cobra.Command{
		Use:   "status MODULE",
		Short: "Show how far the rollouts of a module are",
		Long: "Show the rollout of the current version of each channel of a module: the current wave, how many Kymas have the version, how " +
			"many of them are Ready and how many failed, how many cannot be reached, how many wait, for example for a maintenance window, and " +
			"the first Kymas that failed.\n\n" +
			"With --watch, follow the rollouts until they are complete. If a rollout fails, the command prints its state and fails with exit " +
			"code 8. Use --timeout to wait longer than 5 minutes.\n\n" +
			"With --output json or yaml, the command prints an object with the fields name, module and channels. Each item of channels has " +
			"the fields channel, version, previous, phase, wave, waveName, total, updated, ready, failed, offline, waiting, failures and " +
			"message. Each item of failures has the fields namespace, name and message. phase is empty until the provider has processed the " +
			"current version.",
		Example: "  kymactl rollout status istio\n" +
			"  kymactl rollout status istio --channel regular --watch --timeout 2h",
		Args: command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.run(cmd.Context(), args[0])
		},
		ValidArgsFunction: complete.One(complete.Released(&s.cluster)),
	}
	f := cmd.Flags()
	s.cluster.AddFlags(f)
	s.output.AddNamedFlag(f)
	f.StringVarP(&s.channel, "channel", "c", "", "`CHANNEL` of the module, or mandatory for a mandatory module (default: all channels)")
	f.BoolVarP(&s.watch, "watch", "w", false, "follow the rollouts until they are complete or one fails")
	complete.Flag(cmd, "channel", complete.ReleaseChannels(&s.cluster))
	return cmd
}

func (s *status) run(ctx context.Context, module string) error {
	if err := check(module, s.channel, &s.output); err != nil {
		return err
	}
	c, err := s.cluster.Connect(s.environment)
	if err != nil {
		return err
	}
	m, err := release.Find(ctx, c, module)
	if err != nil {
		return err
	}
	r, err := reportOn(m, s.channel)
	if err != nil {
		return err
	}
	if !s.watch {
		return s.output.Write(s.environment.Out, r, r.write)
	}
	return s.follow(ctx, c, r)
}

// follow waits until the rollouts are complete or one fails, and then writes the last report.
func (s *status) follow(ctx context.Context, c client.WithWatch, last *report) error {
	f := &await.Follower{
		Client:  c,
		List:    func() client.ObjectList { return &v1alpha1.ModuleReleaseMetaList{} },
		Options: []client.ListOption{client.MatchingFields{"metadata.name": last.Name}},
	}
	err := await.Until(ctx, s.environment, "the rollout of module "+last.Module, f, "to complete", func(all await.Objects) (await.Result, error) {
		m, ok := all[client.ObjectKey{Name: last.Name}].(*v1alpha1.ModuleReleaseMeta)
		if !ok {
			return await.Result{}, command.NotFoundf("ModuleReleaseMeta %s does not exist any more", last.Name)
		}
		r, err := reportOn(m, s.channel)
		if err != nil {
			return await.Result{}, err
		}
		last = r
		return s.assess(r)
	})
	if writeErr := s.output.Write(s.environment.Out, last, last.write); err == nil {
		err = writeErr
	}
	return err
}

// assess reports whether the rollouts are complete. It fails with ExitRollout if one has failed.
func (s *status) assess(r *report) (await.Result, error) {
	if c := r.failed(); c != nil {
		return await.Result{}, command.WithCode(command.ExitRollout, errors.Errorf("the rollout of version %s of module %s in channel %s is %s: %s",
			c.Version, r.Module, c.Channel, c.Phase, cmp.Or(c.Message, "use 'kymactl rollout retry' or 'kymactl rollout undo'")))
	}
	c := r.pending()
	if c == nil {
		return await.Result{Met: true}, nil
	}
	if s.environment.Terminal {
		return await.NotYet("%s", c.bar()), nil
	}
	return await.NotYet("%s", c.progress()), nil
}
