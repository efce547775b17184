// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/release"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// Commands returns the commands of kymactl rollout.
func Commands(e *command.Environment) []*cobra.Command {
	out := []*cobra.Command{NewStatus(e)}
	for _, a := range actions() {
		out = append(out, newAction(e, a))
	}
	return out
}

// An action changes the release of a channel.
type action struct {
	name, short, long string
	decide            func(t *release.Target) (step, error)
}

// A step is what an action does to a release. Without fields, nothing is written.
type step struct {
	release.Change

	result  string
	warning string
}

func actions() []action {
	return []action{
		{"pause", "Pause the rollout of a channel", "Pause the rollout of a channel: no further Kymas change to the version until you resume it. " +
			"Kymas that have the version keep it.", pause},
		{"resume", "Resume a paused rollout", "Resume the rollout of a channel that is paused.", resume},
		{"abort", "Abort a rollout", "Abort the rollout of the current version of a channel. The rollout fails: depending on onFailure of the " +
			"RolloutPolicy, the Kymas keep the version that they have, or those of the current wave change back to the previous version. " +
			"To continue it, use 'kymactl rollout retry'.", abort},
		{"retry", "Retry a failed or aborted rollout", "Continue a rollout that failed or was aborted, at the wave that failed.", retry},
		{"undo", "Change a channel back to its previous version", "Change a channel back to the last version whose rollout completed before the " +
			"current one, and allow the Kymas to downgrade to it, in one write. This is a new rollout, which follows the RolloutPolicy.", undo},
	}
}

// acting holds the flags of a command that changes a release.
type acting struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	channel     string
}

const channelUsage = "`CHANNEL` of the module, or mandatory for a mandatory module (default: the only channel)"

func newAction(e *command.Environment, a action) *cobra.Command {
	r := &acting{environment: e}
	cmd := &cobra.Command{
		Use:     a.name + " MODULE",
		Short:   a.short,
		Long:    a.long + "\n\nThe command writes the ModuleReleaseMeta of the module. If nothing changes, nothing is written.\n\n" + release.OutcomeFields,
		Example: "  kymactl rollout " + a.name + " istio --channel regular",
		Args:    command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.run(cmd.Context(), args[0], a.decide)
		},
		ValidArgsFunction: complete.One(complete.Released(&r.cluster)),
	}
	f := cmd.Flags()
	r.cluster.AddFlags(f)
	r.output.AddNamedFlag(f)
	f.StringVarP(&r.channel, "channel", "c", "", channelUsage)
	complete.Flag(cmd, "channel", complete.ReleaseChannels(&r.cluster))
	return cmd
}

func (r *acting) run(ctx context.Context, module string, decide func(*release.Target) (step, error)) error {
	if err := check(module, r.channel, &r.output); err != nil {
		return err
	}
	c, err := r.cluster.Connect(r.environment)
	if err != nil {
		return err
	}
	var last step
	t, err := release.Modify(ctx, c, module, r.channel, func(t *release.Target) (release.Change, error) {
		var err error
		last, err = decide(t)
		return last.Change, err
	})
	if err != nil {
		return err
	}
	if last.warning != "" {
		r.environment.Warnf("%s", last.warning)
	}
	o := release.OutcomeOf(t, last.result)
	if version, ok := last.Fields["version"].(string); ok {
		o.Version = version
	}
	return o.Write(r.environment, &r.output)
}

// check validates the arguments of a command. Its errors have the exit code ExitUsage.
func check(module, channel string, output *command.Output) error {
	if err := argument.CheckModules([]string{module}); err != nil {
		return err
	}
	if err := argument.CheckChannel(channel); err != nil {
		return err
	}
	return output.Check()
}

func pause(t *release.Target) (step, error) {
	if t.Release.Paused {
		return step{result: "already paused"}, nil
	}
	return step{Change: set("paused", true), result: "paused"}, nil
}

func resume(t *release.Target) (step, error) {
	if !t.Release.Paused {
		return step{result: "not paused"}, nil
	}
	return step{Change: set("paused", false), result: "resumed"}, nil
}

func abort(t *release.Target) (step, error) {
	if t.Release.AbortedVersion == t.Release.Version {
		return step{result: "already aborted"}, nil
	}
	if r := t.Rollout(); r != nil && r.Phase == v1alpha1.RolloutComplete {
		return step{}, errors.Errorf("the rollout of version %s in channel %s is complete, so it cannot be aborted: use 'kymactl rollout undo' to "+
			"change back to the previous version", t.Release.Version, t.Channel)
	}
	return step{Change: set("abortedVersion", t.Release.Version), result: "aborted"}, nil
}

func retry(t *release.Target) (step, error) {
	r := t.Rollout()
	aborted := t.Release.AbortedVersion == t.Release.Version
	if !aborted && r != nil && r.Phase != v1alpha1.RolloutFailed && r.Phase != v1alpha1.RolloutRolledBack {
		return step{}, errors.Errorf("the rollout of version %s in channel %s is in phase %s: only a failed rollout can be retried",
			t.Release.Version, t.Channel, r.Phase)
	}
	c := set("retry", time.Now().UTC().Format(time.RFC3339Nano))
	if aborted {
		// Otherwise, the rollout would be aborted again.
		c.Fields["abortedVersion"] = ""
	}
	return step{Change: c, result: "retried"}, nil
}

func undo(t *release.Target) (step, error) {
	r := t.Rollout()
	switch {
	case r == nil:
		return step{}, errors.Errorf("the provider has not reported the rollout of version %s in channel %s yet, so its previous version is unknown: "+
			"use 'kymactl module promote %s --version VERSION --to %s --allow-downgrade'",
			t.Release.Version, t.Channel, t.Meta.Spec.ModuleName, t.Channel)
	case r.Previous == "", r.Previous == t.Release.Version:
		return step{}, command.NotFoundf("channel %s of module %s has no version before %s: use 'kymactl module promote' with --version",
			t.Channel, t.Meta.Spec.ModuleName, t.Release.Version)
	}
	s := step{Change: set("version", r.Previous), result: "undone"}
	s.Downgrade = catalog.Lowers(r.Previous, t.Release.Version)
	if t.Release.Paused {
		s.warning = "channel " + t.Channel + " is paused: use 'kymactl rollout resume' to start the rollout of version " + r.Previous
	}
	return s, nil
}

// set returns a change of one field.
func set(field string, value any) release.Change {
	return release.Change{Fields: map[string]any{field: value}}
}
