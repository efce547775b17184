// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
)

const usage = `usage: tools build [NAME...]   build the named tools, or all of them
       tools path NAME         print the path of a tool, and build it first if necessary
       tools list              print the names of all tools`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "tools:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch verb, names := args[0], args[1:]; {
	case verb == "build":
		return build(ctx, names)
	case verb == "path" && len(names) == 1:
		return path(ctx, tools.Tool(names[0]))
	case verb == "list" && len(names) == 0:
		for _, t := range tools.All() {
			_, _ = fmt.Fprintln(os.Stdout, t)
		}
		return nil
	}
	return errors.New(usage)
}

// build builds the named tools, or all of them, and prints its progress to stderr, because make reads the stdout of path,
// which calls build.
func build(ctx context.Context, names []string) error {
	wanted := make([]tools.Tool, 0, len(names))
	for _, n := range names {
		wanted = append(wanted, tools.Tool(n))
	}
	if len(wanted) == 0 {
		wanted = tools.All()
	}
	steps, err := tools.Missing(ctx, wanted...)
	if err != nil {
		return err
	}
	if len(steps) > 0 {
		_, _ = fmt.Fprintln(os.Stderr, "tools: building missing tools:")
	}
	return tools.Run(ctx, os.Stderr, steps...)
}

func path(ctx context.Context, t tools.Tool) error {
	if err := build(ctx, []string{string(t)}); err != nil {
		return err
	}
	found, err := tools.Path(ctx, t)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(os.Stdout, found)
	return nil
}
