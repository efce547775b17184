// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/argument"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/await"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/complete"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/lookup"
)

// Values of --for.
const (
	forReady   = "ready"
	forDeleted = "deleted"
)

// waiting holds the flags of kymactl wait.
type waiting struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	kyma        string
	condition   string
	modules     []string
	failFast    bool
}

// awaited is the output of wait.
type awaited struct {
	Namespace string `json:"namespace"`
	Kyma      string `json:"kyma"`
	// Condition is ready or deleted.
	Condition string `json:"condition"`
	// Modules lists the modules of the command line; empty if the command waited for the Kyma itself.
	Modules []string `json:"modules"`
}

// Names implements command.Named.
func (a *awaited) Names() []string {
	if len(a.Modules) == 0 {
		return []string{"kyma.kyma.m.crossplane.io/" + a.Kyma}
	}
	out := make([]string, 0, len(a.Modules))
	for _, m := range a.Modules {
		out = append(out, "module.kyma.m.crossplane.io/"+m)
	}
	return out
}

// NewWait returns the command kymactl wait.
func NewWait(e *command.Environment) *cobra.Command {
	w := &waiting{environment: e}
	cmd := &cobra.Command{
		Use:   "wait [KYMA]",
		Short: "Wait until a Kyma or its modules are Ready or deleted",
		Long: "Wait until a Kyma is Ready: the provider has reconciled its current spec, and all of its modules are Ready. With " +
			"--module, wait only for these modules. Once the first request has succeeded, the command keeps waiting even if the API " +
			"server restarts or the connection breaks.\n\n" +
			"With --for deleted, wait until the Kyma no longer exists. With --for deleted and --module, wait until these modules " +
			"are removed completely.\n\n" +
			"The state Error can be temporary, so the command keeps waiting in this state. With --fail-fast, it fails with exit " +
			"code 1 instead. If --timeout expires, the exit code is 6, and the message lists what the command was still waiting for. If the Kyma " +
			"does not exist or a module is not enabled, the exit code is 3, unless you set --for deleted.\n\n" +
			"With --output json or yaml, the command prints an object with the fields namespace, kyma, condition and modules (a " +
			"list of names) if it succeeds.",
		Example: "  kymactl wait cluster-a -n team-a --timeout 10m\n" +
			"  kymactl wait --module istio,serverless --fail-fast\n" +
			"  kymactl wait cluster-a --for deleted",
		Args: command.Args(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := takeKyma(&w.kyma, args); err != nil {
				return err
			}
			return w.run(cmd.Context())
		},
		ValidArgsFunction: complete.One(complete.Kymas(&w.cluster)),
	}
	f := cmd.Flags()
	w.cluster.AddFlags(f)
	w.output.AddNamedFlag(f)
	f.StringVar(&w.kyma, "kyma", "", "`NAME` of the Kyma, as an alternative to the argument (default: the only Kyma in the namespace)")
	f.StringVar(&w.condition, "for", forReady, "`CONDITION` to wait for: ready or deleted")
	f.StringSliceVar(&w.modules, "module", nil, "`NAME` of a module to wait for; can be repeated")
	f.BoolVar(&w.failFast, "fail-fast", false, "fail as soon as the Kyma or a module is in state Error")
	complete.Flag(cmd, "kyma", complete.Kymas(&w.cluster))
	complete.Flag(cmd, "module", complete.EnabledIn(&w.cluster, func(args []string) (string, bool) {
		err := takeKyma(&w.kyma, args)
		return w.kyma, err == nil
	}))
	complete.Flag(cmd, "for", cobra.FixedCompletions([]string{forReady, forDeleted}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// takeKyma sets kyma to the argument, if there is one. It returns a usage error if the flag has set another name.
func takeKyma(kyma *string, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if *kyma != "" && *kyma != args[0] {
		return command.Usagef("--kyma is %s, but the argument is %s: use only one of them", *kyma, args[0])
	}
	*kyma = args[0]
	return nil
}

func (w *waiting) run(ctx context.Context) error {
	if err := w.check(); err != nil {
		return err
	}
	c, err := w.cluster.Connect(w.environment)
	if err != nil {
		return err
	}
	name, err := lookup.KymaName(ctx, c, c.Namespace, w.kyma)
	if err != nil {
		return err
	}
	one := &await.Kyma{
		Environment: w.environment, Client: c, Namespace: c.Namespace, Name: name, Modules: argument.Once(w.modules), FailFast: w.failFast,
	}
	switch {
	case w.condition == forReady:
		err = one.Ready(ctx)
	case len(w.modules) > 0:
		err = one.Removed(ctx)
	default:
		err = one.Deleted(ctx)
	}
	if err != nil {
		return err
	}
	return w.write(&awaited{Namespace: c.Namespace, Kyma: name, Condition: w.condition, Modules: append([]string{}, one.Modules...)})
}

func (w *waiting) check() error {
	if w.condition != forReady && w.condition != forDeleted {
		return command.Usagef("--for is %q: use ready or deleted", w.condition)
	}
	if w.failFast && w.condition == forDeleted {
		return command.Usagef("--fail-fast can only be used with --for ready")
	}
	if err := argument.CheckModules(w.modules); err != nil {
		return err
	}
	return w.output.Check()
}

func (w *waiting) write(a *awaited) error {
	return w.output.Write(w.environment.Out, a, func(out io.Writer) error {
		for _, name := range a.Names() {
			if _, err := io.WriteString(out, name+" "+a.Condition+"\n"); err != nil {
				return err
			}
		}
		return nil
	})
}
