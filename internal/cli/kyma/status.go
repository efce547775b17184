// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/catalog"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

// status holds the flags of kymactl status.
type status struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	kyma        string
	all         bool
	exitCode    bool
}

// NewStatus returns the command kymactl status.
func NewStatus(e *command.Environment) *cobra.Command {
	s := &status{environment: e}
	cmd := &cobra.Command{
		Use:        "status [KYMA]",
		SuggestFor: []string{"get", "describe", "show"},
		Short:      "Show the state of a Kyma and its modules as a tree",
		Long: "Show a Kyma and its modules as a tree. For modules that are not Ready, also show the Manifest and the installs that " +
			"are not Ready, with the reasons. The columns SYNCED, READY and VERIFIED show conditions. Below the tree, the command " +
			"lists the latest warning events of the Kyma and its Manifests.\n\n" +
			"The exit code is 0 in every state, unless you set --exit-code.\n\n" +
			"With --output json or yaml, the command prints an object with the fields namespace, kyma, channel, composedBy, " +
			"observed (true if the provider has reconciled the current spec), state, message, conditions, modules and events. Each " +
			"module has the fields that kymactl module list --kyma prints, and the field live, which describes its Manifest. The " +
			"field live contains name, state, version, message, conditions, objectsReady, objectsTotal, drift (as in the status of " +
			"the Manifest) and installs. Each install has the fields name, state, version and message. The output includes modules " +
			"and installs that are Ready. Each condition has the fields type, status, reason and message. Each event has the " +
			"fields object, reason, message, count and last (the time of its last occurrence).",
		Example: "  kymactl status cluster-a -n team-a\n" +
			"  kymactl status --all\n" +
			"  kymactl status --exit-code --quiet -o jsonpath='{.message}'",
		Args: command.Args(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := takeKyma(&s.kyma, args); err != nil {
				return err
			}
			return s.run(cmd.Context())
		},
		ValidArgsFunction: complete.One(complete.Kymas(&s.cluster)),
	}
	f := cmd.Flags()
	s.cluster.AddFlags(f)
	s.output.AddNamedFlag(f)
	f.StringVar(&s.kyma, "kyma", "", "`NAME` of the Kyma, as an alternative to the argument (default: the only Kyma in the namespace)")
	f.BoolVar(&s.all, "all", false, "also show Manifests and installs that are Ready")
	f.BoolVar(&s.exitCode, "exit-code", false, "exit with code 1 if the Kyma is not Ready")
	complete.Flag(cmd, "kyma", complete.Kymas(&s.cluster))
	return cmd
}

func (s *status) run(ctx context.Context) error {
	if err := s.output.Check(); err != nil {
		return err
	}
	c, err := s.cluster.Connect(s.environment)
	if err != nil {
		return err
	}
	r, err := s.read(ctx, c)
	if err != nil {
		return err
	}
	err = s.output.Write(s.environment.Out, r, func(w io.Writer) error {
		tree := r.tree(s.all)
		if err := tree.draw(w); err != nil || len(r.Events) == 0 {
			return err
		}
		return writeWarnings(w, r.Events, time.Now())
	})
	if err != nil {
		return err
	}
	if s.exitCode && !r.ready() {
		return errors.Errorf("Kyma %s/%s is not Ready: %s", r.Namespace, r.Kyma, cmp.Or(r.Message, catalog.Unseen))
	}
	return nil
}

// read gets the data of the report. If the user is not allowed to read ModuleTemplates or events, it prints a warning and omits
// them.
func (s *status) read(ctx context.Context, c *command.Cluster) (*report, error) {
	k, err := lookup.Kyma(ctx, c, c.Namespace, s.kyma)
	if err != nil {
		return nil, err
	}
	manifests, err := lookup.Manifests(ctx, c, k)
	if err != nil {
		return nil, err
	}
	offer, err := catalog.Offered(ctx, c)
	if err != nil {
		s.environment.Warnf("%s", err)
	}
	r := reportOn(k, manifests, offer)
	if r.Events, err = warningsOf(ctx, c, k, manifests); err != nil {
		s.environment.Warnf("%s", err)
		r.Events = []eventReported{}
	}
	return r, nil
}
