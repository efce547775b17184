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

// A Source identifies the origin of the content of an install.
type Source interface {
	// String returns the address of the source for users.
	fmt.Stringer

	// Validate returns an error that describes a field that the API server would refuse.
	Validate() error

	// SignedDigest returns the digest that a signature must cover. If a signature cannot cover the source, the error says why, and
	// what to use instead.
	SignedDigest() (string, error)

	// Content returns the content of the source.
	Content() Content
}

// Content describes the content of a source, and how to fetch it.
type Content struct {
	// Digest identifies the content. Build it with package digest, because inventories depend on it.
	Digest string

	// Form determines how the engine renders the content.
	Form engine.Form

	// Path is the directory of a kustomization within the content.
	Path string

	// Fetch returns the content. A source that pulls must call allowed every time, so that content from a registry that is no
	// longer allowed is refused even if it was pulled before.
	Fetch func(ctx context.Context, p Puller, allowed RegistriesFunc) (pull.Artifact, error)

	// Read returns the files in the result of Fetch.
	Read func(data []byte, l archive.Limits) ([]archive.File, error)
}

// A Puller pulls blobs and charts from the allowed registries. *pull.Client implements it.
type Puller interface {
	// Blob returns the blob with a digest.
	Blob(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)

	// Layer returns the blob with a digest, or the only layer of a Flux artifact.
	Layer(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)

	// ChartByDigest returns the archive of a chart: a blob, or the layer of a manifest with Helm's media type.
	ChartByDigest(ctx context.Context, regs oci.Registries, repo, digest string) ([]byte, error)

	// Chart returns a chart from a registry, whose URL begins with oci://.
	Chart(ctx context.Context, regs oci.Registries, url, chartName, version string) (pull.Artifact, error)

	// RepoChart returns a chart from a chart repository.
	RepoChart(ctx context.Context, regs oci.Registries, url, chartName, version string) (pull.Artifact, error)
}

// A RegistriesFunc returns the registries that are currently allowed.
type RegistriesFunc func(ctx context.Context) (oci.Registries, error)

// A Constructor returns a source of one type.
type Constructor func(v1alpha1.Source) Source

// types maps each type to its constructor.
var types = map[v1alpha1.SourceType]Constructor{} //nolint:gochecknoglobals // Only init functions change it.

// Register registers a source type. Call it in an init function. It panics if the type is already registered.
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
		return nil, errors.Errorf("unknown source type %q", s.Type)
	}
	return c(s), nil
}

// IsChart reports whether a source contains a chart. Only charts have values.
func IsChart(s v1alpha1.Source) bool {
	src, err := New(s)
	return err == nil && src.Content().Form == engine.FormChart
}
