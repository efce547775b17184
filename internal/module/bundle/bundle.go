// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"context"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/pull"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm/artifact"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A Bundle is an open module, with its descriptors but without its layers in memory. It is safe for concurrent use once
// Open has returned it. The caller must close it.
type Bundle struct {
	// Components are the module's own component and those that it references, as artifact.Collect returns them; only
	// the module's own if others are missing.
	Components []*ocm.Descriptor
	// Digest is the digest of the manifest of the module's own component, sha256:….
	Digest string
	// Tag is the tag by which it was opened, or empty.
	Tag string
	// Location is the location of the components; zero for a layout. If the caller sets it before any other call,
	// templates refer to that location instead.
	Location ocm.Location
	// Store holds the module's own component.
	Store store.Store
	// Renderer renders the installs. If it is nil, they are rendered in this process.
	Renderer Renderer

	cache  *cache
	puller *pull.Client
	regs   oci.Registries
	// layout is nil for a registry.
	layout *layout.Store
	path   string
	// incomplete is the reason why Components lacks components that the module references.
	incomplete error
}

// A Renderer renders charts and kustomizations.
type Renderer = manifest.Renderer

// agent is the user agent of requests.
const agent = "kymactl"

// Open opens a module. Reference is one of
//
//   - the path of an OCI image layout, a directory or a tar, followed by :TAG or
//     @sha256:… if it holds several
//   - host[:port]/base/component-descriptors/NAME:TAG, or @sha256:… (or both)
//   - host[:port]/base//NAME:VERSION, as OCM writes it
//   - host[:port]/base/HEX:TAG if names are mapped by their SHA-256
//
// What exists on disk is a path. The error is a *store.NotFoundError if there is nothing, and an *ocm.InvalidError if
// it is not a module.
func Open(ctx context.Context, reference string, regs oci.Registries) (*Bundle, error) {
	at, err := locate(reference)
	if err != nil {
		return nil, err
	}
	puller, err := pull.New(pull.WithUserAgent(agent))
	if err != nil {
		return nil, err
	}
	b := &Bundle{cache: newCache(), puller: puller, regs: regs}
	if at.path != "" {
		err = b.openLayout(ctx, at)
	} else {
		err = b.openRemote(ctx, at)
	}
	if err != nil {
		_ = b.Close()
		return nil, errors.Wrapf(err, "cannot open %.500s", reference)
	}
	return b, nil
}

// Close releases the open resources. The bundle must not be used after that.
func (b *Bundle) Close() error {
	b.puller.Close()
	if b.layout == nil {
		return nil
	}
	return b.layout.Close()
}

func (b *Bundle) openLayout(ctx context.Context, at place) error {
	if info, err := os.Stat(at.path); err == nil && info.IsDir() && !exists(filepath.Join(at.path, "oci-layout")) {
		return ocm.Invalid(errors.New("the directory is not an image layout: build a module with kymactl module create first"))
	}
	l, err := layout.Open(at.path)
	if err != nil {
		return err
	}
	b.layout, b.path, b.Store = l, at.path, l
	b.Tag, b.Digest = at.tag, at.digest
	if at.tag == "" && at.digest == "" {
		if b.Tag, b.Digest, err = l.Root(ctx); err != nil {
			return err
		}
	}
	d, err := b.describe(ctx, at.path)
	if err != nil {
		return err
	}
	return b.collect(ctx, d)
}

func (b *Bundle) openRemote(ctx context.Context, at place) error {
	s, err := remote.New(at.repository, b.regs)
	if err != nil {
		return err
	}
	b.Store, b.Tag, b.Digest = s, at.tag, at.digest
	d, err := b.describe(ctx, at.repository)
	if err != nil {
		return err
	}
	if at.version != "" && d.Version() != at.version {
		return ocm.Invalid(errors.Errorf("tag %q refers to a different version of the component: %q", at.tag, d.Version()))
	}
	if b.Location, err = locationOf(at.repository, d.Name()); err != nil {
		return ocm.Invalid(err)
	}
	return b.collect(ctx, d)
}

// describe reads the descriptor of the module's own component, and sets its digest.
func (b *Bundle) describe(ctx context.Context, where string) (*ocm.Descriptor, error) {
	reference := b.Digest
	if reference == "" {
		reference = b.Tag
	}
	data, digest, err := b.Store.Manifest(ctx, reference)
	if err != nil {
		return nil, err
	}
	if err := isModule(data); err != nil {
		return nil, err
	}
	b.Digest = digest
	b.cache.remember(digest, data)
	return artifact.Describe(ctx, b.stored(), where, data)
}

// collect sets the components that the module's own component references.
func (b *Bundle) collect(ctx context.Context, d *ocm.Descriptor) error {
	b.Components = []*ocm.Descriptor{d}
	r := b.repositories()
	all, err := artifact.Collect(ctx, r, r.location, d)
	if missing := (*store.NotFoundError)(nil); errors.As(err, &missing) {
		// Reading, pushing or verifying the component itself needs no other component.
		b.incomplete = err
		return nil
	}
	b.Components = all
	return err
}

func (b *Bundle) stored() stored { return stored{store: b.Store, cache: b.cache} }

// repositories returns the repositories of the module in its current state.
func (b *Bundle) repositories() *repositories {
	r := &repositories{
		stored: b.stored(), puller: b.puller, regs: b.regs, layout: b.path,
		location: b.Location, components: b.Components, digest: b.Digest,
	}
	if r.location == (ocm.Location{}) {
		r.location = ocm.Location{BaseURL: nowhere, Mapping: ocm.URLPath}
	}
	return r
}

// Descriptor returns the descriptor of the module's own component.
func (b *Bundle) Descriptor() *ocm.Descriptor { return b.Components[0] }

// Manifest returns the manifest of the module's own component, byte for byte as in the store.
func (b *Bundle) Manifest(ctx context.Context) ([]byte, error) {
	data, _, err := b.stored().Manifest(ctx, "", b.Digest)
	return data, err
}

// Layout returns the path of the layout from which the module was opened, or "".
func (b *Bundle) Layout() string { return b.path }

// Missing returns the references of the module, as NAME:VERSION, if the layout does not hold all of them.
func (b *Bundle) Missing() []string {
	if b.incomplete == nil {
		return nil
	}
	refs := b.Descriptor().References()
	out := make([]string, 0, len(refs))
	for _, r := range refs {
		out = append(out, r.Component+":"+r.Version)
	}
	return out
}

// complete returns an error if not all components that the module references are known.
func (b *Bundle) complete() error {
	return errors.Wrap(b.incomplete, "cannot read all components that the module references")
}
