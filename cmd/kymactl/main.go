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
	// Libraries must not write to stderr what is not for people.
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// What waits for a person, such as for a password, cannot be told to stop: the second signal ends the process.
	context.AfterFunc(ctx, stop)
	code := cli.Run(ctx, command.Process(), os.Args[1:])
	stop()
	os.Exit(int(code))
}
