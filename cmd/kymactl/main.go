// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane-contrib/provider-kyma/internal/cli"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/sandbox"
)

func main() {
	if sandbox.IsChild(os.Args) {
		os.Exit(sandbox.Serve())
	}
	os.Exit(run())
}

// maxOutput is the maximum size of the objects of a chart or kustomization, in bytes.
const maxOutput = 64 << 20

func run() int {
	// Libraries must not write their logs to stderr.
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal cancels ctx. Prompts, such as for a password, can't be cancelled, so a second signal ends the process.
	context.AfterFunc(ctx, stop)
	defer stop()
	e := command.Process()
	// Without spare children, no process is started until there is something to render.
	pool, err := sandbox.New(sandbox.Options{Limits: sandbox.Limits{Output: maxOutput}})
	if err != nil {
		e.Warnf("charts are rendered in this process, and can exhaust its memory: %s", err)
		return int(cli.Run(ctx, e, os.Args[1:]))
	}
	defer pool.Close()
	e.Renderer = pool
	return int(cli.Run(ctx, e, os.Args[1:]))
}
