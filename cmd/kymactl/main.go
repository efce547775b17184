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
)

func main() {
	// Libraries must not write their logs to stderr.
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal cancels ctx. Prompts, such as for a password, can't be cancelled, so a second signal ends the process.
	context.AfterFunc(ctx, stop)
	code := cli.Run(ctx, command.Process(), os.Args[1:])
	stop()
	os.Exit(int(code))
}
