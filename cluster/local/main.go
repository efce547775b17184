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
	checked := flag.Bool("check", false, "verify the installation, repair, changes, rollouts and removal of modules, and exit")
	bare := flag.Bool("bare", false, "start the provider without Crossplane and without modules")
	flag.Parse()
	// The demo prints its own messages.
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

// run runs the demo that the command line requests.
func run(ctx context.Context, checked, bare bool) error {
	if !bare {
		if err := checkPort(ctx); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "provider-kyma-demo-")
	if err != nil {
		return errors.Wrap(err, "cannot create a directory for the demo")
	}
	s := &servers{workshop: workshop(dir)}
	defer s.stop()
	begin := time.Now()
	err = inOrder(ctx,
		func(ctx context.Context) error { return build(ctx, s.workshop, bare) },
		func(ctx context.Context) error { return start(ctx, s, checked, bare) },
		func(ctx context.Context) error {
			return s.watched(ctx, func(ctx context.Context) error { return play(ctx, s, checked, bare) })
		})
	if err != nil {
		s.keepLogs(ctx)
		return err
	}
	if checked {
		sayf("all checks passed after %s", time.Since(begin).Round(time.Second))
	}
	return nil
}

// start starts the servers that the command line requests.
func start(ctx context.Context, s *servers, checked, bare bool) error {
	switch {
	case bare:
		return s.startBare(ctx)
	case checked:
		// The checks make changes within seconds that users make within minutes. Without this flag, Crossplane would then
		// reconcile the composite resource of the claim only once a minute.
		return s.start(ctx, "--circuit-breaker-burst=1000")
	}
	return s.start(ctx)
}

// inOrder runs the parts of a demo in sequence, and stops at the first error.
func inOrder(ctx context.Context, parts ...func(context.Context) error) error {
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// play runs the demo on servers that were started.
func play(ctx context.Context, s *servers, checked, bare bool) error {
	if bare {
		printBare(s)
		<-ctx.Done()
		return nil
	}
	e, err := install(ctx, s)
	if err != nil {
		return err
	}
	if err := printTree(ctx, e); err != nil {
		return err
	}
	if err := playRollout(ctx, e); err != nil {
		return err
	}
	if checked {
		return check(ctx, e)
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
