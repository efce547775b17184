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

// run does what the command line asks for.
func run(ctx context.Context, checked, bare bool) error {
	if !bare {
		if err := checkPort(ctx); err != nil {
			return err
		}
	}
	e, err := newEnvironment(bare)
	if err != nil {
		return err
	}
	defer e.stop()
	var coreArgs []string
	if checked {
		// It changes in seconds what people change in minutes. That alone would have
		// Crossplane look at the claim's composite resource once a minute only.
		coreArgs = []string{"--circuit-breaker-burst=1000"}
	}
	begin := time.Now()
	err = inOrder(ctx, e.build,
		func(ctx context.Context) error { return e.start(ctx, coreArgs...) },
		func(ctx context.Context) error {
			return e.watched(ctx, func(ctx context.Context) error { return play(ctx, e, checked) })
		})
	if err != nil {
		e.keepLogs(ctx)
		return err
	}
	if checked {
		sayf("all of it is true, after %s", time.Since(begin).Round(time.Second))
	}
	return nil
}

// inOrder runs the parts of a demo one after the other, and ends at the first error.
func inOrder(ctx context.Context, parts ...func(context.Context) error) error {
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// watched runs a part of the demo, which the death of a server ends.
func (e *environment) watched(ctx context.Context, part func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { cancel(e.watch(ctx)) }()
	err := part(ctx)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// play does what the demo shows, on an environment that runs.
func play(ctx context.Context, e *environment, checked bool) error {
	if e.bare {
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
