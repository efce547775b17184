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
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	checked := flag.Bool("check", false, "assert that modules are installed, repaired, changed and removed, and exit")
	bare := flag.Bool("bare", false, "start the provider without Crossplane, and no modules")
	flag.Parse()
	// What the demo has to say it says itself.
	log.SetLogger(logr.Discard())

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *checked, *bare)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case interrupted && !*checked:
		sayf("stopped")
	case err != nil:
		sayf("FAILED: %v", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, checked, bare bool) error {
	begin := time.Now()
	var coreArgs []string
	if checked {
		// It changes in seconds what people change in minutes. That alone would have
		// Crossplane look at the claim's composite resource once a minute only.
		coreArgs = []string{"--circuit-breaker-burst=1000"}
	}
	e, err := start(ctx, bare, coreArgs...)
	defer e.stop()
	if err != nil {
		e.keepLogs(ctx)
		return err
	}
	// A server that dies ends whatever is going on.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { cancel(e.watch(ctx)) }()

	err = play(ctx, e, checked, bare)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if err != nil {
		e.keepLogs(ctx)
		return err
	}
	if checked {
		sayf("all of it is true, after %s", time.Since(begin).Round(time.Second))
	}
	return nil
}

// play does what the demo shows, on an environment that runs.
func play(ctx context.Context, e *environment, checked, bare bool) error {
	if bare {
		printBare(e)
		<-ctx.Done()
		return nil
	}
	if err := e.install(ctx); err != nil {
		return err
	}
	if checked {
		return e.check(ctx)
	}
	if err := printThingsToTry(ctx, e); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(os.Stdout, "demo: "+format+"\n", args...)
}
