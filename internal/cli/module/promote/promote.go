// SPDX-License-Identifier: Apache-2.0

package promote

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/release"
)

// promotion holds the flags of kymactl module promote.
type promotion struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	module      string
	from        string
	to          string
	version     string
	downgrade   bool
	missing     bool
}

// Command returns the command kymactl module promote.
func Command(e *command.Environment) *cobra.Command {
	p := &promotion{environment: e}
	cmd := &cobra.Command{
		Use:   "promote NAME",
		Short: "Move a release channel to another version of a module",
		Long: "Move a release channel to the version of another channel, or to the version of --version, in one write of the " +
			"ModuleReleaseMeta of the module. The Kymas in the channel then change to the version as the RolloutPolicy of the channel " +
			"specifies; see 'kymactl rollout status'. If the channel already has the version, nothing is written.\n\n" +
			"A ModuleTemplate must provide the version of --version, unless you set --allow-missing. For a lower version, the command " +
			"fails unless you set --allow-downgrade, which also adds the annotation that allows the Kymas to downgrade.\n\n" +
			"To set the version of a mandatory module, use the channel mandatory. A module whose ModuleTemplates have channels and that " +
			"has no ModuleReleaseMeta cannot be promoted: apply the ModuleTemplate of 'kymactl module template' for the channel instead.\n\n" +
			release.OutcomeFields,
		Example: "  kymactl module promote istio --from fast --to regular\n" +
			"  kymactl module promote istio --version 1.2.0 --to regular",
		Args: command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.module = args[0]
			return p.run(cmd.Context())
		},
		ValidArgsFunction: complete.One(complete.Released(&p.cluster)),
	}
	f := cmd.Flags()
	p.cluster.AddFlags(f)
	p.output.AddNamedFlag(f)
	f.StringVar(&p.from, "from", "", "`CHANNEL` whose version to use")
	f.StringVar(&p.to, "to", "", "`CHANNEL` to move (default: the only channel of the module)")
	f.StringVar(&p.version, "version", "", "`VERSION` to move the channel to, instead of --from")
	f.BoolVar(&p.downgrade, "allow-downgrade", false, "allow a lower version than the current one")
	f.BoolVar(&p.missing, "allow-missing", false, "allow a version of --version that no ModuleTemplate provides yet")
	complete.Flag(cmd, "from", complete.ReleaseChannels(&p.cluster))
	complete.Flag(cmd, "to", complete.ReleaseChannels(&p.cluster))
	complete.Flag(cmd, "version", complete.Versions(&p.cluster))
	return cmd
}

// check validates the command line. Its errors have the exit code ExitUsage.
func (p *promotion) check() error {
	if err := argument.CheckModules([]string{p.module}); err != nil {
		return err
	}
	if (p.from == "") == (p.version == "") {
		return command.Usagef("use exactly one of --from and --version")
	}
	if p.from != "" && p.to == "" {
		return command.Usagef("--from needs --to: use --to with the channel to move")
	}
	return p.output.Check()
}

func (p *promotion) run(ctx context.Context) error {
	if err := p.check(); err != nil {
		return err
	}
	c, err := p.cluster.Connect(p.environment)
	if err != nil {
		return err
	}
	if p.version != "" && !p.missing {
		offer, err := catalog.Offered(ctx, c)
		if err != nil {
			return err
		}
		if err := provided(offer.Of(p.module), p.module, p.version); err != nil {
			return err
		}
	}
	var last decision
	t, err := release.Modify(ctx, c, p.module, p.to, func(t *release.Target) (release.Change, error) {
		var err error
		last, err = p.decide(t)
		return last.change, err
	})
	if err != nil {
		return err
	}
	for _, w := range last.warnings {
		p.environment.Warnf("%s", w)
	}
	o := release.OutcomeOf(t, "promoted")
	o.Version = last.version
	if len(last.change.Fields) == 0 {
		o.Result = "unchanged"
		p.environment.Sayf("Channel %s already has version %s of module %s.", t.Channel, last.version, p.module)
	}
	return o.Write(p.environment, &p.output)
}

// provided returns an error with ExitNotFound if no ModuleTemplate provides a version of a module.
func provided(offer catalog.Releases, module, version string) error {
	versions := offer.Versions()
	if slices.Contains(versions, version) {
		return nil
	}
	return command.NotFoundf("no ModuleTemplate provides version %s of module %s (there are: %s): apply one with 'kymactl module template', or use "+
		"--allow-missing", version, module, strings.Join(versions, ", "))
}

// A decision is the change that promotes a version, if any.
type decision struct {
	version  string
	change   release.Change
	warnings []string
}

// decide returns the change that gives a channel the version of the flags.
func (p *promotion) decide(t *release.Target) (decision, error) {
	d := decision{version: p.version}
	if p.from != "" {
		from, err := release.In(t.Meta, p.from)
		if err != nil {
			return d, err
		}
		d.version = from.Release.Version
		if r := from.Rollout(); r == nil || r.Phase != v1alpha1.RolloutComplete {
			d.warnings = append(d.warnings, "the rollout of version "+d.version+" in channel "+p.from+" is not complete")
		}
	}
	if d.version == t.Release.Version {
		return decision{version: d.version}, nil
	}
	lower := catalog.Lowers(d.version, t.Release.Version)
	if lower && !p.downgrade {
		return d, errors.Errorf("version %s is lower than version %s, which channel %s of module %s has: use --allow-downgrade to downgrade",
			d.version, t.Release.Version, t.Channel, t.Meta.Spec.ModuleName)
	}
	if lower {
		d.warnings = append(d.warnings, "version "+d.version+" is lower than version "+t.Release.Version+": the Kymas in channel "+t.Channel+" downgrade")
	}
	if t.Release.Paused {
		d.warnings = append(d.warnings, "channel "+t.Channel+" is paused: use 'kymactl rollout resume' to start the rollout")
	}
	d.change = release.Change{Fields: map[string]any{"version": d.version}, Downgrade: lower}
	return d, nil
}
