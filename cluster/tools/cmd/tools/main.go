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

const usage = `usage: tools build [NAME...]   build the named tools, or those that the tests and the demo need
       tools path NAME         print the path of a tool, built first when it is not there
       tools list              print the names`

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
		path, err := tools.Path(ctx, tools.Tool(names[0]))
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(os.Stdout, path)
		return nil
	case verb == "list" && len(names) == 0:
		for _, t := range tools.All() {
			_, _ = fmt.Fprintln(os.Stdout, t)
		}
		return nil
	}
	return errors.New(usage)
}

func build(ctx context.Context, names []string) error {
	wanted := []tools.Tool{tools.Etcd, tools.KubeAPIServer, tools.Kwok, tools.Helm, tools.Crane, tools.GolangCILint}
	if len(names) > 0 {
		wanted = nil
	}
	for _, n := range names {
		wanted = append(wanted, tools.Tool(n))
	}
	for _, t := range wanted {
		path, err := tools.Path(ctx, t)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(os.Stdout, "%-24s %s\n", t, path)
	}
	return nil
}
