// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// sources pulls what installs consist of: layers of the module and charts beside it from its store, and all else from
// registries.
type sources struct{ registry }

// Layer returns the blob of a digest. A module has no artifacts of Flux.
func (s sources) Layer(ctx context.Context, repository, digest string) ([]byte, error) {
	return s.Blob(ctx, repository, digest)
}

// ChartByDigest returns the archive of a chart, which is a layer of the module or an artifact of its own.
func (s sources) ChartByDigest(ctx context.Context, repository, digest string) ([]byte, error) {
	switch {
	case s.beside(repository):
		return s.chart(ctx, digest)
	case s.inStore(repository):
		return stored(s.registry).Blob(ctx, repository, digest)
	}
	return s.b.content.puller.ChartByDigest(ctx, s.b.content.regs, repository, digest)
}

// Chart returns a chart of a registry.
func (s sources) Chart(ctx context.Context, url, name, version string) (oci.Artifact, error) {
	return s.b.content.puller.Chart(ctx, s.b.content.regs, url, name, version)
}

// RepoChart returns a chart of a chart repository.
func (s sources) RepoChart(ctx context.Context, url, name, version string) (oci.Artifact, error) {
	return s.b.content.puller.RepoChart(ctx, s.b.content.regs, url, name, version)
}
