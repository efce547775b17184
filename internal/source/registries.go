// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
)

// A RegistryPuller pulls from the registries that a ProviderConfig allows, as *pull.Client does.
type RegistryPuller interface {
	Blob(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)
	Layer(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)
	ChartByDigest(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)
	Chart(ctx context.Context, regs oci.Registries, url, chartName, version string) (pull.Artifact, error)
	RepoChart(ctx context.Context, regs oci.Registries, url, chartName, version string) (pull.Artifact, error)
}

// A RegistriesFunc returns the registries that may be used.
type RegistriesFunc func(ctx context.Context) (oci.Registries, error)

// FromRegistries returns a Puller that asks for the registries each time, and pulls from them. What must not be pulled any
// more is then refused although it was pulled before.
func FromRegistries(p RegistryPuller, regs RegistriesFunc) Puller {
	return &registries{puller: p, regs: regs}
}

type registries struct {
	puller RegistryPuller
	regs   RegistriesFunc
}

func (r *registries) Blob(ctx context.Context, repo, digest string) ([]byte, error) {
	regs, err := r.regs(ctx)
	if err != nil {
		return nil, err
	}
	return r.puller.Blob(ctx, regs, repo, digest)
}

func (r *registries) Layer(ctx context.Context, repo, digest string) ([]byte, error) {
	regs, err := r.regs(ctx)
	if err != nil {
		return nil, err
	}
	return r.puller.Layer(ctx, regs, repo, digest)
}

func (r *registries) ChartByDigest(ctx context.Context, repo, digest string) ([]byte, error) {
	regs, err := r.regs(ctx)
	if err != nil {
		return nil, err
	}
	return r.puller.ChartByDigest(ctx, regs, repo, digest)
}

func (r *registries) Chart(ctx context.Context, url, chartName, version string) (pull.Artifact, error) {
	regs, err := r.regs(ctx)
	if err != nil {
		return pull.Artifact{}, err
	}
	return r.puller.Chart(ctx, regs, url, chartName, version)
}

func (r *registries) RepoChart(ctx context.Context, url, chartName, version string) (pull.Artifact, error) {
	regs, err := r.regs(ctx)
	if err != nil {
		return pull.Artifact{}, err
	}
	return r.puller.RepoChart(ctx, regs, url, chartName, version)
}
