// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
)

// A puller adapts repositories to the pullers of the controller. It reads layers of the module and charts next to it
// from its store, and everything else from registries.
type puller struct{ *repositories }

func (p puller) Manifest(ctx context.Context, _ oci.Registries, repo, reference string) (data []byte, digest string, err error) {
	return p.repositories.Manifest(ctx, repo, reference)
}

func (p puller) Blob(ctx context.Context, _ oci.Registries, repo, digest string) ([]byte, error) {
	return p.repositories.Blob(ctx, repo, digest)
}

// allowed returns the registries that the user configured.
func (p puller) allowed(context.Context) (oci.Registries, error) { return p.regs, nil }

// Layer returns the blob of a digest. A module contains no artifacts of Flux.
func (p puller) Layer(ctx context.Context, regs oci.Registries, repository, digest string) ([]byte, error) {
	return p.Blob(ctx, regs, repository, digest)
}

// ChartByDigest returns the archive of a chart, which is a layer of the module or a separate artifact.
func (p puller) ChartByDigest(ctx context.Context, regs oci.Registries, repository, digest string) ([]byte, error) {
	switch {
	case p.besideLayout(repository):
		manifest, _, err := p.stored.Manifest(ctx, "", digest)
		if err != nil {
			return nil, err
		}
		layer, _, err := layers.OfChart(manifest, archive.DefaultLimits().Compressed)
		if err != nil {
			return nil, err
		}
		return p.stored.Blob(ctx, "", layer)
	case p.inStore(repository):
		return p.stored.Blob(ctx, repository, digest)
	}
	return p.repositories.puller.ChartByDigest(ctx, regs, repository, digest)
}

// Chart returns a chart from an OCI registry.
func (p puller) Chart(ctx context.Context, regs oci.Registries, url, name, version string) (pull.Artifact, error) {
	return p.repositories.puller.Chart(ctx, regs, url, name, version)
}

// RepoChart returns a chart from a chart repository.
func (p puller) RepoChart(ctx context.Context, regs oci.Registries, url, name, version string) (pull.Artifact, error) {
	return p.repositories.puller.RepoChart(ctx, regs, url, name, version)
}
