// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
)

// A puller reads repositories for the code of the controller.
type puller struct{ *repositories }

func (p puller) Manifest(ctx context.Context, _ oci.Registries, repo, reference string) (data []byte, digest string, err error) {
	return p.repositories.Manifest(ctx, repo, reference)
}

func (p puller) Blob(ctx context.Context, _ oci.Registries, repo, digest string) ([]byte, error) {
	return p.repositories.Blob(ctx, repo, digest)
}

// sources pulls what installs consist of: layers of the module and charts beside it from its store, and all else from
// registries.
type sources struct{ *repositories }

// Layer returns the blob of a digest. A module has no artifacts of Flux.
func (s sources) Layer(ctx context.Context, repository, digest string) ([]byte, error) {
	return s.Blob(ctx, repository, digest)
}

// ChartByDigest returns the archive of a chart, which is a layer of the module or an artifact of its own.
func (s sources) ChartByDigest(ctx context.Context, repository, digest string) ([]byte, error) {
	switch {
	case s.besideLayout(repository):
		manifest, _, err := s.stored.Manifest(ctx, "", digest)
		if err != nil {
			return nil, err
		}
		layer, _, err := layers.OfChart(manifest, archive.DefaultLimits().Compressed)
		if err != nil {
			return nil, err
		}
		return s.stored.Blob(ctx, "", layer)
	case s.inStore(repository):
		return s.stored.Blob(ctx, repository, digest)
	}
	return s.puller.ChartByDigest(ctx, s.regs, repository, digest)
}

// Chart returns a chart of a registry.
func (s sources) Chart(ctx context.Context, url, name, version string) (pull.Artifact, error) {
	return s.puller.Chart(ctx, s.regs, url, name, version)
}

// RepoChart returns a chart of a chart repository.
func (s sources) RepoChart(ctx context.Context, url, name, version string) (pull.Artifact, error) {
	return s.puller.RepoChart(ctx, s.regs, url, name, version)
}
