// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
)

const (
	// version of the packages that the demo builds.
	version = "v0.0.1-demo"
	// rbacAddress is where Crossplane's RBAC manager listens. It has no flag for it.
	rbacAddress = ":8080"
	// calm is how long Crossplane may have trouble: what fails is tried again.
	calm = 15 * time.Second
)

// checkPort says early and clearly what would fail late.
func checkPort(ctx context.Context) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", rbacAddress)
	if err != nil {
		return errors.Wrap(err, "port 8080 is taken, and Crossplane's RBAC manager can use no other: "+
			"end what listens there (perhaps another demo, or its tests), or start without Crossplane: make run")
	}
	return errors.Wrap(l.Close(), "cannot free port 8080")
}

func (e *environment) packages() string { return filepath.Join(e.dir, "packages") }

// installPackages does what users do: it pushes the packages, and has Crossplane
// install them, which runs the provider with the rights that it grants.
func (e *environment) installPackages(ctx context.Context) error {
	if err := e.crossplane.PushFunctions(ctx); err != nil {
		return err
	}
	for _, p := range []struct{ kind, name string }{
		{"provider", crossplane.ProviderPackage}, {"configuration", crossplane.ConfigurationPackage},
	} {
		sayf("pushing package %s to the registry at %s", p.name, e.registry.Host())
		ref, err := e.crossplane.Push(ctx, filepath.Join(e.packages(), p.name+".xpkg"), p.name, version)
		if err != nil {
			return err
		}
		name := crossplane.ObjectName(p.name)
		sayf("crossplane xpkg install %s %s %s", p.kind, ref, name)
		if _, err := e.crossplane.Crank(ctx, "xpkg", "install", p.kind, ref, name); err != nil {
			return err
		}
		if err := e.crossplane.AwaitInstalled(ctx, p.name, func(seen string) { sayf("  package %s: %s", p.name, seen) }); err != nil {
			return err
		}
	}
	// Crossplane has found them as what the configuration depends on.
	if err := e.crossplane.InstallFunctions(ctx); err != nil {
		return err
	}
	pod, err := e.crossplane.AwaitPod(ctx)
	if err != nil {
		return err
	}
	sayf("the provider runs as Deployment %s, with the rights of its ServiceAccount", pod.Deployment)
	return nil
}

// printTree prints what the claim has become, and the modules below it, as the
// team would look at them.
func (e *environment) printTree(ctx context.Context) error {
	args := []string{"beta", "trace", strings.ToLower(claimKind), claim, "-n", team}
	tree, err := e.crossplane.Crank(ctx, args...)
	if err != nil {
		return err
	}
	printCommand("crossplane", args, tree)
	args = []string{"get", "kymas,manifests"}
	out, err := e.kubectl(ctx, args...)
	if err != nil {
		return err
	}
	printCommand("kubectl", args, out)
	for _, args := range [][]string{{"module", "list"}, {"status", e.composite, "--all"}} {
		out, err := e.kymactl(ctx, args...)
		if err != nil {
			return err
		}
		printCommand("kymactl", args, out)
	}
	return nil
}

func printCommand(name string, args []string, out string) {
	_, _ = fmt.Fprintf(os.Stdout, "\n$ %s %s\n%s\n", name, strings.Join(args, " "), strings.TrimSpace(out))
}

// checkRights checks that the provider asked for nothing that Crossplane did not
// grant, and that it never ended.
func (e *environment) checkRights(ctx context.Context) error {
	refused, err := crossplane.Refused(e.control)
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		return errors.Errorf("%d requests were refused, the first is %+v", len(refused), refused[0])
	}
	pod, err := e.crossplane.AwaitPod(ctx)
	if err != nil {
		return err
	}
	if pod.Restarts > 0 {
		return errors.Errorf("the provider ended %d times", pod.Restarts)
	}
	return nil
}

// crossplaneFails sends why Crossplane does not recover. It looks until ctx is done.
func (e *environment) crossplaneFails(ctx context.Context) <-chan error {
	failed := make(chan error, 1)
	go func() {
		well := time.Now()
		for ctx.Err() == nil {
			err := e.crossplane.Err()
			if err == nil {
				well = time.Now()
			}
			if time.Since(well) > calm {
				failed <- err
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}()
	return failed
}

// providerLog is the path of the provider's log, and its last lines.
func (e *environment) providerLog() (path, tail string) {
	p := e.provider
	if e.crossplane != nil {
		for _, pod := range e.crossplane.Pods() {
			p = pod.Process
		}
	}
	if p == nil {
		return "", ""
	}
	return p.LogFile(), p.Tail()
}
