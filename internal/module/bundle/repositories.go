// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/archive"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
)

// nowhere is the host that represents the registry of a layout. It never exists, by RFC 2606, and is never shown.
const nowhere = "layout.invalid"

// stored reads the store of a module for any repository.
type stored struct {
	store store.Store
	cache *cache
}

func (s stored) Manifest(ctx context.Context, _, reference string) (data []byte, digest string, err error) {
	if data, ok := s.cache.remembered(reference); ok {
		return data, reference, nil
	}
	data, digest, err = s.store.Manifest(ctx, reference)
	if err == nil {
		s.cache.remember(digest, data)
	}
	return data, digest, err
}

func (s stored) Blob(ctx context.Context, _, digest string) ([]byte, error) {
	if data, ok := s.cache.remembered(digest); ok {
		return data, nil
	}
	data, err := store.ReadBlob(ctx, s.store, digest, archive.DefaultLimits().Compressed)
	if err == nil {
		s.cache.remember(digest, data)
	}
	return data, err
}

// repositories reads the repositories of a module: what is in its store is read from there, and everything else from
// registries.
type repositories struct {
	stored stored
	puller *pull.Client
	regs   oci.Registries
	// layout is the path of the store if that is a layout, and otherwise empty.
	layout string
	// location is the location of the components, or the one that represents the layout.
	location ocm.Location
	// components are the module's own, whose manifest has the digest, and those that it references, as far as they are
	// known.
	components []*ocm.Descriptor
	digest     string
}

// isNowhere reports whether the location represents the layout.
func (r *repositories) isNowhere() bool { return r.location.BaseURL == nowhere }

// own returns the module's own component.
func (r *repositories) own() *ocm.Descriptor { return r.components[0] }

// of returns the repository of a component.
func (r *repositories) of(d *ocm.Descriptor) string {
	repo, name, err := r.location.Repository(d.Name())
	if err != nil {
		return ""
	}
	return repo + "/" + name
}

// Manifest returns the manifest of a tag or a digest. A tag keeps the digest that it had at the first call.
func (r *repositories) Manifest(ctx context.Context, repository, reference string) (data []byte, digest string, err error) {
	c := r.stored.cache
	data, digest, err = r.manifest(ctx, repository, c.pinned(repository, reference))
	if err == nil {
		c.pin(repository, reference, digest)
	}
	return data, digest, err
}

func (r *repositories) manifest(ctx context.Context, repository, reference string) (data []byte, digest string, err error) {
	if repository == r.of(r.own()) {
		// The tag may have moved since the module was opened.
		if tag, err := ocm.Tag(r.own().Version()); err == nil && tag == reference {
			reference = r.digest
		}
		return r.stored.Manifest(ctx, repository, reference)
	}
	if r.layout != "" {
		if data, digest, err := r.find(ctx, repository, reference); err != nil || data != nil {
			return data, digest, err
		}
		if r.isNowhere() {
			return nil, "", &store.NotFoundError{What: "component " + component(repository) + ":" + reference, Store: r.layout}
		}
	}
	if data, ok := r.stored.cache.remembered(reference); ok {
		return data, reference, nil
	}
	// Unlike the errors of the puller, its errors name what is missing.
	s, err := remote.New(repository, r.regs)
	if err != nil {
		return nil, "", err
	}
	data, digest, err = s.Manifest(ctx, reference)
	if err == nil {
		r.stored.cache.remember(digest, data)
	}
	return data, digest, err
}

// component returns the name of the component of a repository in a layout.
func component(repository string) string {
	return strings.TrimPrefix(repository, nowhere+"/"+descriptors+"/")
}

// find finds another component in the layout. It returns nil data if the component is not there.
func (r *repositories) find(ctx context.Context, repository, reference string) (data []byte, digest string, err error) {
	tags, err := r.stored.store.Tags(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, t := range tags {
		data, digest, err := r.stored.Manifest(ctx, repository, t)
		if err != nil {
			return nil, "", err
		}
		d, err := artifact.Describe(ctx, r.stored, repository, data)
		if err != nil {
			// A layout may contain other artifacts too.
			continue
		}
		if tag, err := ocm.Tag(d.Version()); err == nil && r.of(d) == repository && (tag == reference || digest == reference) {
			return data, digest, nil
		}
	}
	return nil, "", nil
}

// Blob returns the blob of a digest.
func (r *repositories) Blob(ctx context.Context, repository, digest string) ([]byte, error) {
	if r.inStore(repository) {
		return r.stored.Blob(ctx, repository, digest)
	}
	return r.puller.Blob(ctx, r.regs, repository, digest)
}

// inStore reports whether a repository belongs to the module, or to an artifact in the same layout.
func (r *repositories) inStore(repository string) bool {
	if r.layout == "" {
		return repository == r.of(r.own())
	}
	if strings.HasPrefix(repository, nowhere+"/") {
		return true
	}
	for _, d := range r.components {
		if repository == r.of(d) {
			return true
		}
	}
	return false
}

// besideLayout reports whether a repository belongs to a chart in the layout.
func (r *repositories) besideLayout(repository string) bool {
	if r.layout == "" {
		return false
	}
	base, err := baseOf(r.location)
	return err == nil && strings.HasPrefix(repository, base+"/"+ChartsDir+"/")
}
