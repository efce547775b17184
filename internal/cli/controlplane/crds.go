// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
)

// An installation installs the CRDs in the control plane, or a package with the CRDs and the provider.
type installation struct {
	plane   *apply.Plane
	applier *apply.Applier
	// skip leaves the CRDs unchanged.
	skip bool
	// image is the package of the provider, which includes the CRDs; empty to install only the CRDs.
	image string
}

// define installs the CRDs or the package, and waits until the kinds are served and the package is Healthy. It does not change
// CRDs that belong to a package.
func (i *installation) define(ctx context.Context) error {
	if i.skip {
		return nil
	}
	all, err := apply.ReadCRDs()
	if err != nil {
		return err
	}
	brought, err := i.plane.PackagedCRDs(ctx, all)
	if err != nil {
		return err
	}
	switch {
	case i.image != "":
		err = i.install(ctx, brought)
	case len(brought) > 0:
		i.applier.Environment.Sayf("The CRDs belong to a package (%s) and are not changed.", brought[0].By)
		err = i.activate(ctx)
	default:
		err = i.applier.ApplyAll(ctx, all)
	}
	if err != nil || i.applier.DryRun {
		return err
	}
	if err := i.applier.AwaitServed(ctx, all, i.why); err != nil || i.image == "" {
		return err
	}
	return i.awaitHealthy(ctx)
}
