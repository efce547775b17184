// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// plan holds the flags of kymactl plan.
type plan struct {
	environment *command.Environment
	cluster     command.ClusterFlags
	output      command.Output
	argument    string
	file        string
	apply       bool
	keep        bool
	exitCode    bool
}

// NewPlan returns the command kymactl plan.
func NewPlan(e *command.Environment) *cobra.Command {
	p := &plan{environment: e}
	cmd := &cobra.Command{
		Use:   "plan [[KIND/]NAME]",
		Short: "Preview what a Manifest or a Kyma would create, change and prune",
		Long: "Show what the provider would do in the target cluster: which objects it would create, change, recreate and prune. For " +
			"changes, the output lists the fields, but never their values. The provider computes the plan with server-side dry runs " +
			"and changes nothing in the target cluster.\n\n" +
			"With -f FILE, the plan is for a Manifest or a Kyma with the spec, labels and annotations from the file. The spec in " +
			"the file replaces the whole spec. Without -f, the plan is for the object as it is, and shows pending changes and " +
			"drift.\n\n" +
			"To compute the plan, kymactl sets spec.forProvider.mode of the object to Plan and applies the file, in a single write. " +
			"In mode Plan, the provider applies nothing and repairs no drift. Afterwards, kymactl restores the previous spec in a " +
			"single write, even if you interrupt the command. If the object did not exist before, kymactl deletes it without " +
			"deleting anything in the target cluster. If kymactl is killed, the object stays in mode Plan, which is safe, and the " +
			"next plan reports this. With --keep, the object stays in mode Plan. With --apply, kymactl sets the mode to Apply so " +
			"that the provider applies the plan, unless the plan has problems. An object that was already in mode Plan stays in " +
			"that mode, unless you set --apply.\n\n" +
			"You cannot directly plan a Manifest that belongs to a Kyma or a composite resource, because its owner would revert the " +
			"mode. Plan the Kyma instead, or set the mode in the composite resource.\n\n" +
			"The exit code is 0 if there is a plan, even if it contains changes. It is 1 if the plan has problems, such as objects " +
			"that already exist and belong to another owner, or objects that the API server rejects. It is 6 if --timeout expires. " +
			"With --exit-code, it is 7 if there are changes.\n\n" +
			"With --output json or yaml, the command prints an object with the fields namespace, kind, name, create, change, prune, " +
			"result (planned, kept or applied), removed (modules that the Kyma no longer enables) and manifests. Each item of " +
			"manifests has the fields name, module, create, change, prune, problems, message and objects. The field objects lists " +
			"at most 64 objects. Each item of objects has the fields action (Create, Change, Recreate or Prune), group, kind, " +
			"namespace, name, fields (at most 16 paths of fields that would change) and omittedFields (the number of further " +
			"fields). A field without a value is omitted.",
		Example: "  kymactl plan manifest/web -n team-a\n" +
			"  kymactl plan -f web.yaml\n" +
			"  kymactl plan -f web.yaml --apply\n" +
			"  kymactl plan kyma/cluster-a --exit-code --quiet -o json",
		Args: command.Args(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				p.argument = args[0]
			}
			return p.run(cmd.Context())
		},
		ValidArgsFunction: completeResources(&p.cluster),
	}
	f := cmd.Flags()
	p.cluster.AddFlags(f)
	p.output.AddFlag(f, false)
	f.StringVarP(&p.file, "file", "f", "", "`FILE` with the Manifest or Kyma to plan; - means stdin")
	f.BoolVar(&p.apply, "apply", false, "apply the plan, unless it has problems")
	f.BoolVar(&p.keep, "keep", false, "leave the object in mode Plan")
	f.BoolVar(&p.exitCode, "exit-code", false, "exit with code 7 if there are changes")
	return cmd
}

func (p *plan) check() error {
	if (p.argument == "") == (p.file == "") {
		return command.Usagef("use either the name of a Manifest or Kyma, or --file")
	}
	if p.apply && p.keep {
		return command.Usagef("--apply and --keep cannot be used together")
	}
	if p.apply && p.exitCode {
		return command.Usagef("--apply and --exit-code cannot be used together")
	}
	return p.output.Check()
}

func (p *plan) run(ctx context.Context) error {
	if err := p.check(); err != nil {
		return err
	}
	d, err := p.newSession()
	if err != nil {
		return err
	}
	c, err := p.cluster.Connect(p.environment)
	if err != nil {
		return err
	}
	if err := d.load(ctx, c, p.argument); err != nil {
		return err
	}
	if p.apply && d.observes {
		return command.Usagef("%s can only be planned because of its spec.managementPolicies: change them to apply it", &d.resourceRef)
	}
	if err := p.enterPlanMode(ctx, d); err != nil {
		return err
	}
	r, err := p.report(ctx, d)
	if err != nil {
		return errors.Join(err, p.restore(ctx, d))
	}
	return p.finish(ctx, d, r)
}

// newSession returns a session with the object from the file, if --file is set.
func (p *plan) newSession() (*planSession, error) {
	d := &planSession{environment: p.environment}
	if p.file == "" {
		return d, nil
	}
	want, err := readResource(p.environment.In, p.file)
	d.want = want
	return d, err
}

// restoreTimeout is the timeout for restoring an object. It applies even if the command has timed out or was interrupted.
const restoreTimeout = 20 * time.Second

// restore restores the object as it was before, within restoreTimeout.
func (p *plan) restore(ctx context.Context, d *planSession) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
	defer cancel()
	return d.restore(ctx)
}

// enterPlanMode switches the object to plan mode. If that fails, it restores the object, even if the write succeeded and only
// the response was lost.
func (p *plan) enterPlanMode(ctx context.Context, d *planSession) error {
	failure := d.enterPlanMode(ctx)
	if failure == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
	defer cancel()
	err := d.resolveUnanswered(ctx, failure)
	if err == nil {
		err = d.restore(ctx)
	}
	return errors.Join(failure, err)
}

// report waits for the plan and returns it.
func (p *plan) report(ctx context.Context, d *planSession) (*planReport, error) {
	all := &selection{environment: p.environment, client: d.client, of: &d.resourceRef}
	manifests, gone, err := all.await(ctx, "to be planned", d.planned)
	if err != nil {
		return nil, err
	}
	return reportPlan(&d.resourceRef, manifests, gone), nil
}

// finish applies the plan, keeps it or restores the object, depending on the flags. It then writes the report.
func (p *plan) finish(ctx context.Context, d *planSession, r *planReport) error {
	// The object stays in plan mode until a write that ends it has succeeded.
	r.Result = resultKept
	var err error
	switch problems := r.problems(); {
	case p.apply && problems == 0:
		if err = d.apply(ctx); err == nil {
			r.Result = resultApplied
		}
	case p.keep:
	default:
		if err = p.restore(ctx, d); err == nil {
			r.Result = resultPlanned
		}
	}
	if werr := r.write(p.environment, &p.output); err == nil {
		err = werr
	}
	if err != nil {
		return err
	}
	return p.finalError(d, r)
}

// finalError returns the final error of the command after it has written the report, or nil.
func (p *plan) finalError(d *planSession, r *planReport) error {
	switch {
	case r.problems() > 0 && p.apply:
		return errors.Errorf("%s was not applied: its plan has problems", &d.resourceRef)
	case r.problems() > 0:
		return errors.Errorf("the plan of %s has problems", &d.resourceRef)
	case p.exitCode && !r.empty():
		return command.WithCode(command.ExitChanges, errors.Errorf("%s has changes: %s", &d.resourceRef, r.counts()))
	}
	return nil
}
