// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/phase"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/report"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/simulator"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/world"
)

// options are the options of the command.
type options struct {
	world world.Options
	phase phase.Options

	out, phases, simulator, target string
	gate                           bool
}

func main() {
	o := options{}
	flag.IntVar(&o.world.Clusters, "clusters", 50, "how many clusters there are")
	flag.IntVar(&o.world.Modules, "modules", 3, "how many modules each cluster has")
	flag.BoolVar(&o.world.Real, "real", false, "use one real API server that the provider sees as all clusters, for phases without faults and policies")
	flag.StringVar(&o.world.MemoryLimit, "memory-limit", "", "soft memory limit of the provider, such as 2GiB; in a container, its memory limit sets it")
	flag.Func("provider-arg", "additional flag of the provider, such as --park-after=30m; can be repeated", func(arg string) error {
		o.world.Args = append(o.world.Args, arg)
		return nil
	})
	flag.IntVar(&o.phase.Edits, "edits", 100, "how many edits of users there are at rest, and about how many during a rollout")
	flag.DurationVar(&o.phase.Idle, "idle", 10*time.Minute, "how long nothing is done")
	flag.DurationVar(&o.phase.Fault, "fault", 30*time.Second, "how long clusters fail in each way")
	flag.DurationVar(&o.phase.Timeout, "timeout", time.Hour, "how long each phase may take")
	flag.StringVar(&o.phases, "phases", "", "comma-separated names of the phases after create; all by default")
	flag.StringVar(&o.out, "out", "fleet.json", "file that the result is written to")
	flag.BoolVar(&o.gate, "gate", false, "fail if the result exceeds a budget")
	flag.StringVar(&o.simulator, simulator.Argument, "", "for internal use: serve the simulated clusters, controlled through this socket")
	flag.StringVar(&o.target, simulator.TargetArgument, "", "for internal use: kubeconfig of the real API server of the clusters")
	flag.Parse()
	log.SetLogger(logr.Discard()) // The benchmark itself has nothing to log, but controller-runtime would warn about that.

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	run := run
	if o.simulator != "" {
		run = func(ctx context.Context, o options) error { return simulator.Serve(ctx, o.simulator, o.target) }
	}
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench-fleet: error: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	steps, err := chosen(o.phases, o.world.Real)
	if err != nil {
		return err
	}
	if o.world.Clusters < 1 || o.world.Modules < 1 || o.phase.Edits < 1 {
		return errors.New("-clusters, -modules and -edits must be at least 1")
	}
	w, err := world.Start(ctx, o.world)
	defer w.Stop()
	if err != nil {
		return err
	}
	// A server that ends unexpectedly cancels everything in progress.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { cancel(w.Watch(ctx)) }()

	r := &report.Result{Clusters: o.world.Clusters, Modules: o.world.Modules}
	err = (&phase.Run{Options: o.phase, World: w, Result: r}).Play(ctx, steps)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench-fleet: the provider's log ends with:\n%s\n", w.Provider.Tail())
	}
	return finish(w, r, o, err)
}

// finish prints and writes the result, also that of a run that failed, and checks it.
func finish(w *world.World, r *report.Result, o options, failed error) error {
	var err error
	if failed == nil {
		r.Unknown, err = w.Simulator.Unknown()
	}
	r.Summarize()
	r.Print(os.Stdout)
	err = errors.Join(failed, err, usage.WriteJSON(o.out, r))
	if err != nil {
		return err
	}
	if len(r.Unknown) > 0 {
		return errors.Errorf("the simulator does not implement %s", strings.Join(r.Unknown, ", "))
	}
	if !o.gate {
		return nil
	}
	return check(os.Stdout, r, report.Budgets(o.world.Real))
}

// check prints which budgets the run cannot be compared with, and returns an error if it exceeds others.
func check(w io.Writer, r *report.Result, budgets []report.Budget) error {
	for _, b := range r.Unchecked(budgets) {
		fmt.Fprintf(w, "bench-fleet: budget not checked: %s\n", b)
	}
	if exceeded := r.Exceeded(budgets); len(exceeded) > 0 {
		return errors.Errorf("over the budget: %s", strings.Join(exceeded, "; "))
	}
	return nil
}

// chosen returns the phases with the given names, and those that always are played. If the clusters are real, some are not possible.
func chosen(names string, isReal bool) ([]phase.Step, error) {
	all := slices.DeleteFunc(phase.All(), func(s phase.Step) bool { return isReal && s.Simulated })
	if names == "" {
		return all, nil
	}
	wanted := append(strings.Split(names, ","), report.Empty, report.Connect, report.Create)
	steps := slices.DeleteFunc(all, func(s phase.Step) bool { return !slices.Contains(wanted, s.Name) })
	for _, name := range wanted {
		if !slices.ContainsFunc(steps, func(s phase.Step) bool { return s.Name == name }) {
			return nil, errors.Errorf("-phases: there is no phase %q, or not with -real", name)
		}
	}
	return steps, nil
}
