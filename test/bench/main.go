// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
)

// options are the options of the command.
type options struct {
	manifests int
	kymas     int
	out       string
	idle      time.Duration
	timeout   time.Duration
}

func main() {
	o := options{}
	flag.IntVar(&o.manifests, "n", 50, "how many Manifests are created")
	flag.IntVar(&o.kymas, "kymas", 20, "how many Kymas of three modules are created after that; 0 for none")
	flag.StringVar(&o.out, "out", "bench.json", "file that the result is written to")
	flag.DurationVar(&o.idle, "idle", time.Minute, "how long nothing is done, after all Manifests are Ready, and again after all Kymas are")
	flag.DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long all Manifests, and all Kymas, may take until they are Ready")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: error: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.manifests < 1 {
		return errors.New("-n must be at least 1")
	}
	if o.kymas < 0 {
		return errors.New("-kymas must be at least 0")
	}
	e, err := start(ctx)
	defer e.stop()
	if err != nil {
		return err
	}
	// A server that ends unexpectedly cancels everything in progress.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { cancel(e.watch(ctx)) }()

	r, err := measure(ctx, e, o)
	if err == nil {
		err = measureKymas(ctx, e, o, r)
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		sayf("the provider's log ends with:\n%s", e.provider.Tail())
		return err
	}
	r.print(os.Stdout, o)
	r.printKymas(os.Stdout)
	return usage.WriteJSON(o.out, r)
}

func sayf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
