// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// These are the media types of Helm's OCI charts (see https://helm.sh/docs/topics/registries), and of module layers.
const (
	helmConfig types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	helmChart  types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	moduleTar  types.MediaType = "application/gzip"
)

// A Registry is an OCI registry on the loopback interface, in this process. Its content is in memory.
type Registry struct {
	*webServer
}

// Pushed is the location of a pushed artifact.
type Pushed struct {
	// Repository is the repository in the form host:port/path.
	Repository string
	// Tag is the tag of the manifest, if it has one.
	Tag string
	// Manifest and Layer are digests, sha256:….
	Manifest, Layer string
}

// StartRegistry starts a registry.
func StartRegistry(o WebOptions) (*Registry, error) {
	s, err := newWebServer(o, registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	return &Registry{webServer: s}, errors.Wrap(err, "cannot start a registry")
}

// RegistryFor starts a registry for a test, and stops it at the end of the test.
func RegistryFor(t interface {
	Helper()
	Fatal(args ...any)
	Cleanup(f func())
}, o WebOptions,
) *Registry {
	t.Helper()
	r, err := StartRegistry(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// PushChart pushes a chart as Helm does: to path/<chart name>, with its version as tag. path may be empty.
func (r *Registry) PushChart(ctx context.Context, path string, chart Files) (Pushed, error) {
	m, err := chart.chart()
	if err != nil {
		return Pushed{}, err
	}
	config, err := json.Marshal(m.all)
	if err != nil {
		return Pushed{}, errors.Wrap(err, "cannot encode the chart's metadata")
	}
	archive, err := chart.Archive(m.Name)
	if err != nil {
		return Pushed{}, err
	}
	path = strings.TrimPrefix(path+"/"+m.Name, "/")
	// A tag cannot contain the + of semantic versions.
	tag := strings.ReplaceAll(m.Version, "+", "_")
	return r.Push(ctx, path, tag, static.NewLayer(config, helmConfig), static.NewLayer(archive, helmChart))
}

// PushModule pushes files as the layer of a Kyma module: tar+gzip with the files at its root. The layer is identified by
// its digest.
func (r *Registry) PushModule(ctx context.Context, path string, files Files) (Pushed, error) {
	archive, err := files.Archive("")
	if err != nil {
		return Pushed{}, err
	}
	return r.PushBlob(ctx, path, archive)
}

// PushBlob pushes data as the layer of a module. The data need not be an archive.
func (r *Registry) PushBlob(ctx context.Context, path string, data []byte) (Pushed, error) {
	return r.Push(ctx, path, "", static.NewLayer([]byte("{}"), types.OCIConfigJSON), static.NewLayer(data, moduleTar))
}

// Push pushes a manifest with a config and one layer, with a tag unless it is empty.
func (r *Registry) Push(ctx context.Context, path, tag string, config, layer v1.Layer) (Pushed, error) {
	repo, err := name.NewRepository(r.Host() + "/" + path)
	if err != nil {
		return Pushed{}, errors.Wrapf(err, "cannot push to %q", path)
	}
	options := r.remoteOptions(ctx)
	manifest := &v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1}
	if manifest.Config, err = pushLayer(repo, config, options); err != nil {
		return Pushed{}, err
	}
	descriptor, err := pushLayer(repo, layer, options)
	if err != nil {
		return Pushed{}, err
	}
	manifest.Layers = []v1.Descriptor{descriptor}
	raw, err := json.Marshal(manifest)
	if err != nil {
		return Pushed{}, errors.Wrap(err, "cannot encode the manifest")
	}
	digest, _, err := v1.SHA256(strings.NewReader(string(raw)))
	if err != nil {
		return Pushed{}, errors.Wrap(err, "cannot compute the digest of the manifest")
	}
	var ref name.Reference = repo.Digest(digest.String())
	if tag != "" {
		ref = repo.Tag(tag)
	}
	if err := remote.Put(ref, taggable(raw), options...); err != nil {
		return Pushed{}, errors.Wrapf(err, "cannot push the manifest to %q", path)
	}
	return Pushed{Repository: repo.Name(), Tag: tag, Manifest: digest.String(), Layer: descriptor.Digest.String()}, nil
}

func (r *Registry) remoteOptions(ctx context.Context) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx), remote.WithTransport(r.server.Client().Transport),
		remote.WithAuth(&authn.Basic{Username: r.options.Username, Password: r.options.Password}),
	}
}

func pushLayer(repo name.Repository, layer v1.Layer, options []remote.Option) (v1.Descriptor, error) {
	if err := remote.WriteLayer(repo, layer, options...); err != nil {
		return v1.Descriptor{}, errors.Wrapf(err, "cannot push a blob to %q", repo.Name())
	}
	digest, err := layer.Digest()
	if err != nil {
		return v1.Descriptor{}, errors.Wrap(err, "cannot compute the digest of a blob")
	}
	size, err := layer.Size()
	if err != nil {
		return v1.Descriptor{}, errors.Wrap(err, "cannot get the size of a blob")
	}
	media, err := layer.MediaType()
	return v1.Descriptor{MediaType: media, Size: size, Digest: digest}, errors.Wrap(err, "cannot determine the type of a blob")
}

// taggable is an encoded manifest that remote.Put accepts.
type taggable []byte

func (t taggable) RawManifest() ([]byte, error) { return t, nil }

func (taggable) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
