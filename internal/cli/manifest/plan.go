// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/spf13/cobra"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// plan is what plan is asked for.
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

// NewPlan makes kymactl plan.
func NewPlan(e *command.Environment) *cobra.Command {
	p := &plan{environment: e}
	cmd := &cobra.Command{
		Use:   "plan [[KIND/]NAME]",
		Short: "Show what a Manifest or a Kyma would create, change and prune, before it is applied",
		Long: "Show what the provider would do in the target cluster: which objects it would create, change (with the fields, never with values), make anew " +
			"and prune. It asks the target cluster by server-side dry runs, and changes nothing there.\n\n" +
			"With -f FILE it is about a Manifest or a Kyma as it would be with the spec, the labels and the annotations of the file; the spec of the file takes " +
			"the place of the whole spec. Without it, it is about the object as it is: what is pending, and what has drifted.\n\n" +
			"For the plan, annotation " + v1alpha1.AnnotationPlan + " is put on the object, in the same write as what is in the file. While it is there, nothing " +
			"of the object is applied and no drift is repaired. Afterwards the object is put back as it was, also when the command is interrupted: the annotation " +
			"is taken away and the old spec is back, in one write, and an object that was not there before is deleted, with nothing in the target cluster. " +
			"If kymactl dies in between, the object " +
			"stays in plan mode, which is safe, and the next plan shows it. With --keep the object is left in plan mode. With --apply the annotation is taken " +
			"away and what was planned is applied, unless the plan has problems. An object that was in plan mode already stays so without --apply.\n\n" +
			"The exit code is 0 if a plan could be made, whatever is in it; 1 if it has problems, such as objects of others in the way or objects that the API " +
			"server refuses; with --exit-code it is 7 if there is something to change. --timeout bounds the wait for the plan (6).\n\n" +
			"--output json and yaml write one object with namespace, kind, name, create, change, prune, result (planned, kept or applied), removed (modules that the " +
			"Kyma no longer has) and the list \"manifests\" of name, module, create, change, prune, problems, message, and \"objects\" of action, object and fields. " +
			"At most 64 objects of each Manifest are listed.",
		Example: "  kymactl plan manifest/web -n team-a\n" +
			"  kymactl plan -f web.yaml\n" +
			"  kymactl plan -f web.yaml --apply\n" +
			"  kymactl plan kyma/cluster-a --exit-code --quiet -o json",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				p.argument = args[0]
			}
			return p.run(cmd.Context())
		},
		ValidArgsFunction: completeSubjects(&p.cluster),
	}
	f := cmd.Flags()
	p.cluster.AddFlags(f)
	p.output.AddFlag(f, false)
	f.StringVarP(&p.file, "file", "f", "", "`FILE` with one Manifest or Kyma, - is stdin")
	f.BoolVar(&p.apply, "apply", false, "apply what was planned, unless the plan has problems")
	f.BoolVar(&p.keep, "keep", false, "leave the object in plan mode")
	f.BoolVar(&p.exitCode, "exit-code", false, "end with exit code 7 if there is something to change")
	return cmd
}

func (p *plan) check() error {
	if (p.argument == "") == (p.file == "") {
		return command.Usagef("want either the name of a Manifest or a Kyma, or --file")
	}
	if p.apply && p.keep {
		return command.Usagef("--apply and --keep exclude each other")
	}
	if p.apply && p.exitCode {
		return command.Usagef("--apply and --exit-code exclude each other")
	}
	return p.output.Check()
}

func (p *plan) run(ctx context.Context) error {
	if err := p.check(); err != nil {
		return err
	}
	d, err := p.draft()
	if err != nil {
		return err
	}
	c, err := p.cluster.Connect(p.environment)
	if err != nil {
		return err
	}
	if err := d.begin(ctx, c, p.argument); err != nil {
		return err
	}
	if p.apply && d.observes {
		return command.Usagef("%s is only planned because of its spec.managementPolicies: change them to apply it", &d.subject)
	}
	if err := p.put(ctx, d); err != nil {
		return err
	}
	r, err := p.report(ctx, d)
	if err != nil {
		return errors.Join(err, p.back(ctx, d))
	}
	return p.finish(ctx, d, r)
}

// draft out of the file, if there is one.
func (p *plan) draft() (*draft, error) {
	d := &draft{environment: p.environment}
	if p.file == "" {
		return d, nil
	}
	want, err := readSubject(p.environment.In, p.file)
	d.want = want
	return d, err
}

// backTimeout is for putting an object back, which is done even if the time of the command is over.
const backTimeout = 20 * time.Second

// back to how the object was.
func (p *plan) back(ctx context.Context, d *draft) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), backTimeout)
	defer cancel()
	return d.back(ctx)
}

// put the object into plan mode. Where that fails the object is as it was, also if the answer was lost.
func (p *plan) put(ctx context.Context, d *draft) error {
	failure := d.put(ctx)
	if failure == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), backTimeout)
	defer cancel()
	err := d.settle(ctx, failure)
	if err == nil {
		err = d.back(ctx)
	}
	return errors.Join(failure, err)
}

// report on the plan once it is there.
func (p *plan) report(ctx context.Context, d *draft) (*planReport, error) {
	all := &concerned{environment: p.environment, client: d.client, of: &d.subject}
	manifests, gone, err := all.await(ctx, "not planned", d.planned)
	if err != nil {
		return nil, err
	}
	return reportPlan(&d.subject, manifests, gone), nil
}

// finish with the object, and say what became of it.
func (p *plan) finish(ctx context.Context, d *draft, r *planReport) error {
	// The object is in plan mode until a write that takes it out has succeeded.
	r.Result = resultKept
	var err error
	switch problems := r.problems(); {
	case p.apply && problems == 0:
		if err = d.apply(ctx); err == nil {
			r.Result = resultApplied
		}
	case p.keep:
	default:
		if err = p.back(ctx, d); err == nil {
			r.Result = resultPlanned
		}
	}
	if werr := r.write(p.environment, &p.output); err == nil {
		err = werr
	}
	if err != nil {
		return err
	}
	return p.verdict(d, r)
}

// verdict on a plan that was written: the error with which the command ends.
func (p *plan) verdict(d *draft, r *planReport) error {
	switch {
	case r.problems() > 0 && p.apply:
		return errors.Errorf("%s was not applied: its plan has problems", &d.subject)
	case r.problems() > 0:
		return errors.Errorf("the plan of %s has problems", &d.subject)
	case p.exitCode && !r.empty():
		return command.WithCode(command.ExitChanges, errors.Errorf("%s has changes: %s", &d.subject, r.counts()))
	}
	return nil
}
