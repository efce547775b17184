// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

const (
	// nowhere is the registry of a layout. It never exists, by RFC 2606, and is never shown.
	nowhere = "layout.invalid"
	// maxRemembered bounds what is kept of the store, in bytes.
	maxRemembered = 128 << 20
)

// content remembers what was read of the store, and gets all else.
type content struct {
	puller *oci.Puller
	regs   oci.Registries

	// mu guards what follows.
	mu    sync.Mutex
	known map[string][]byte
	size  int
	// pins are the digests that tags had, by repository and tag: what was verified is what is copied and installed.
	pins map[string]string
}

func newContent(p *oci.Puller, regs oci.Registries) *content {
	return &content{puller: p, regs: regs, known: map[string][]byte{}, pins: map[string]string{}}
}

func (c *content) remember(digest string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[digest]; ok || c.size+len(data) > maxRemembered {
		return
	}
	c.known[digest] = data
	c.size += len(data)
}

func (c *content) remembered(digest string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, ok := c.known[digest]
	return data, ok
}

// pin the digest of a tag, unless it is pinned.
func (c *content) pin(repository, reference, digest string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.pins[repository+":"+reference]; !ok {
		c.pins[repository+":"+reference] = digest
	}
}

// pinned returns the digest of a tag that was asked for before, and all else as it is.
func (c *content) pinned(repository, reference string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if digest, ok := c.pins[repository+":"+reference]; ok {
		return digest
	}
	return reference
}

// location of the components, or one that stands for the layout.
func (b *Bundle) location() ocm.Location {
	if b.Location == (ocm.Location{}) {
		return ocm.Location{BaseURL: nowhere, Mapping: ocm.URLPath}
	}
	return b.Location
}

// repositoryOf a component.
func (b *Bundle) repositoryOf(d *ocm.Descriptor) string {
	repo, name, err := b.location().Repository(d.Name())
	if err != nil {
		return ""
	}
	return repo + "/" + name
}

// stored reads the store, whatever the repository.
type stored struct{ b *Bundle }

func (s stored) Manifest(ctx context.Context, _, reference string) (data []byte, digest string, err error) {
	if data, ok := s.b.content.remembered(reference); ok {
		return data, reference, nil
	}
	data, digest, err = s.b.Store.Manifest(ctx, reference)
	if err == nil {
		s.b.content.remember(digest, data)
	}
	return data, digest, err
}

func (s stored) Blob(ctx context.Context, _, digest string) ([]byte, error) {
	if data, ok := s.b.content.remembered(digest); ok {
		return data, nil
	}
	data, err := store.ReadBlob(ctx, s.b.Store, digest, oci.DefaultLimits().Compressed)
	if err == nil {
		s.b.content.remember(digest, data)
	}
	return data, err
}

// registry reads repositories: those of components that lie in the store from there, and all else from registries.
type registry struct{ b *Bundle }

// Manifest of a tag or a digest. A tag stays what it was the first time.
func (r registry) Manifest(ctx context.Context, repository, reference string) (data []byte, digest string, err error) {
	c := r.b.content
	data, digest, err = r.manifest(ctx, repository, c.pinned(repository, reference))
	if err == nil {
		c.pin(repository, reference, digest)
	}
	return data, digest, err
}

func (r registry) manifest(ctx context.Context, repository, reference string) (data []byte, digest string, err error) {
	if len(r.b.Components) > 0 && repository == r.b.repositoryOf(r.b.Descriptor()) {
		// The tag may have moved since.
		if tag, err := ocm.Tag(r.b.Descriptor().Version()); err == nil && tag == reference {
			reference = r.b.Digest
		}
		return stored(r).Manifest(ctx, repository, reference)
	}
	if r.b.layout != nil {
		if data, digest, err := r.find(ctx, repository, reference); err != nil || data != nil {
			return data, digest, err
		}
		if r.b.Location == (ocm.Location{}) {
			return nil, "", &store.NotFoundError{What: "component " + component(repository) + ":" + reference, Store: r.b.path}
		}
	}
	if data, ok := r.b.content.remembered(reference); ok {
		return data, reference, nil
	}
	// Unlike those of the puller its errors say what is not there.
	s, err := store.NewRemote(repository, r.b.content.regs)
	if err != nil {
		return nil, "", err
	}
	data, digest, err = s.Manifest(ctx, reference)
	if err == nil {
		r.b.content.remember(digest, data)
	}
	return data, digest, err
}

// component whose repository is in a layout.
func component(repository string) string {
	return strings.TrimPrefix(repository, nowhere+"/"+descriptors+"/")
}

// find another component in the layout. There is no data if it is not there.
func (r registry) find(ctx context.Context, repository, reference string) (data []byte, digest string, err error) {
	tags, err := r.b.Store.Tags(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, t := range tags {
		data, digest, err := stored(r).Manifest(ctx, repository, t)
		if err != nil {
			return nil, "", err
		}
		d, err := ocm.Describe(ctx, stored(r), repository, data)
		if err != nil {
			// A layout may hold other things too.
			continue
		}
		if tag, err := ocm.Tag(d.Version()); err == nil && r.b.repositoryOf(d) == repository && (tag == reference || digest == reference) {
			return data, digest, nil
		}
	}
	return nil, "", nil
}

// Blob by digest.
func (r registry) Blob(ctx context.Context, repository, digest string) ([]byte, error) {
	if r.inStore(repository) {
		return stored(r).Blob(ctx, repository, digest)
	}
	return r.b.content.puller.Blob(ctx, r.b.content.regs, repository, digest)
}

// inStore says whether a repository is that of the module, or of what lies in the layout with it.
func (r registry) inStore(repository string) bool {
	if r.b.layout == nil {
		return len(r.b.Components) > 0 && repository == r.b.repositoryOf(r.b.Descriptor())
	}
	if strings.HasPrefix(repository, nowhere+"/") {
		return true
	}
	for _, d := range r.b.Components {
		if repository == r.b.repositoryOf(d) {
			return true
		}
	}
	return false
}

// puller is the registry for the code of the controller.
type puller struct{ registry }

func (p puller) Manifest(ctx context.Context, _ oci.Registries, repo, reference string) (data []byte, digest string, err error) {
	return p.registry.Manifest(ctx, repo, reference)
}

func (p puller) Blob(ctx context.Context, _ oci.Registries, repo, digest string) ([]byte, error) {
	return p.registry.Blob(ctx, repo, digest)
}

// complete says why not all that the module consists of is known.
func (b *Bundle) complete() error {
	return errors.Wrap(b.incomplete, "not all components that the module references are there")
}
