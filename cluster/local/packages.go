// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane/crossplane"
)

const (
	// version is the version of the packages that the demo builds.
	version = "v0.0.1-demo"
	// rbacAddress is the address of Crossplane's RBAC manager, which has no flag to change it.
	rbacAddress = ":8080"
)

// checkPort checks early that the port of the RBAC manager is free, with a clearer error than a failed start.
func checkPort(ctx context.Context) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", rbacAddress)
	if err != nil {
		return errors.Wrap(err, "port 8080 is in use, and Crossplane's RBAC manager requires it: "+
			"stop the process that uses it, such as another demo, or run without Crossplane: make run")
	}
	return errors.Wrap(l.Close(), "cannot release port 8080")
}

// installPackages does what users do: it pushes the packages and installs them with Crossplane, which runs the provider
// with the permissions that it grants.
func installPackages(ctx context.Context, x *crossplane.Crossplane, dir, registry string) error {
	if err := x.PushFunctions(ctx); err != nil {
		return err
	}
	for _, p := range []struct{ kind, name string }{
		{"provider", crossplane.ProviderPackage}, {"configuration", crossplane.ConfigurationPackage},
	} {
		sayf("pushing package %s to the registry at %s", p.name, registry)
		ref, err := x.Push(ctx, filepath.Join(dir, p.name+".xpkg"), p.name, version)
		if err != nil {
			return err
		}
		name := crossplane.ObjectName(p.name)
		sayf("crossplane xpkg install %s %s %s", p.kind, ref, name)
		if _, err := x.Crank(ctx, "xpkg", "install", p.kind, ref, name); err != nil {
			return err
		}
		if err := x.AwaitInstalled(ctx, p.name, func(seen string) { sayf("  package %s: %s", p.name, seen) }); err != nil {
			return err
		}
	}
	// Crossplane installed the functions already, as dependencies of the configuration.
	if err := x.InstallFunctions(ctx); err != nil {
		return err
	}
	pod, err := x.AwaitPod(ctx)
	if err != nil {
		return err
	}
	sayf("the provider is running as Deployment %s, with the permissions of its ServiceAccount", pod.Deployment)
	return nil
}
