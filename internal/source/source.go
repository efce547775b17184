// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A Source is where an install comes from.
type Source interface {
	// String returns the address of the source for users.
	fmt.Stringer

	// Validate returns an error that describes the field that the API server would refuse.
	Validate() error

	// SignedDigest returns the digest that a signature must cover. The error says why a signature cannot cover the source,
	// and what to use instead.
	SignedDigest() (string, error)

	// Content describes what the source holds.
	Content() Content
}

// Content is what a source holds, and how to fetch it.
type Content struct {
	// Digest identifies the content. Package digest builds it, because inventories depend on it.
	Digest string

	// Form says what the engine makes of the content.
	Form engine.Form

	// Path is the directory of a kustomization in the content.
	Path string

	// Fetch returns the content. A source that pulls asks for the registries each time: what must not be pulled any more is refused
	// although it was pulled before.
	Fetch func(ctx context.Context, p Puller, allowed RegistriesFunc) (pull.Artifact, error)

	// Read returns the files in what Fetch returned.
	Read func(data []byte, l archive.Limits) ([]archive.File, error)
}

// A Puller pulls blobs and charts from registries that may be used, as *pull.Client does.
type Puller interface {
	// Blob returns the blob of a digest.
	Blob(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)

	// Layer returns the blob of a digest, or the only layer of an artifact of Flux.
	Layer(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)

	// ChartByDigest returns the archive of a chart: a blob, or the layer of a manifest of Helm's type.
	ChartByDigest(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)

	// Chart returns a chart of a registry, whose URL begins with oci://.
	Chart(ctx context.Context, regs oci.Registries, url, chartName, version string) (pull.Artifact, error)

	// RepoChart returns a chart of a chart repository.
	RepoChart(ctx context.Context, regs oci.Registries, url, chartName, version string) (pull.Artifact, error)
}

// A RegistriesFunc returns the registries that may be used.
type RegistriesFunc func(ctx context.Context) (oci.Registries, error)

// A Constructor returns a source of its type.
type Constructor func(v1alpha1.Source) Source

// types has the constructor of each type.
var types = map[v1alpha1.SourceType]Constructor{} //nolint:gochecknoglobals // Only init functions change it.

// Register adds a type of sources. Call it in an init function. It panics if the type is already registered.
func Register(t v1alpha1.SourceType, c Constructor) {
	if _, ok := types[t]; ok {
		panic("source type " + string(t) + " is registered twice")
	}
	types[t] = c
}

// New returns the source that a spec describes.
func New(s v1alpha1.Source) (Source, error) {
	c, ok := types[s.Type]
	if !ok {
		return nil, errors.Errorf("source type %q is unknown", s.Type)
	}
	return c(s), nil
}

// IsChart reports whether a source holds a chart. Only charts have values.
func IsChart(s v1alpha1.Source) bool {
	src, err := New(s)
	return err == nil && src.Content().Form == engine.FormChart
}
