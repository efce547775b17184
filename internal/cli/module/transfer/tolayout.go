// SPDX-License-Identifier: Apache-2.0

package transfer

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/module/file"
	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// An item is an artifact of a module that is copied to a layout: a component or a chart.
type item struct {
	name   string // For the progress bar.
	from   store.Reader
	digest string
	tag    string // In the layout.
}

// toLayout copies a module to a layout at a path. After an error, a tar is unchanged, and a directory still contains the module that it
// contained before.
func (t *transfer) toLayout(ctx context.Context, b *bundle.Bundle, to string) (out *destination, err error) {
	items, err := t.items(ctx, b)
	if err != nil {
		return nil, err
	}
	l, err := layout.Create(ctx, to)
	if err != nil {
		return nil, file.ExplainLayout(to, err)
	}
	defer func() {
		// Do not publish an incomplete layout.
		if err != nil {
			_ = l.Discard()
			return
		}
		err = l.Close()
	}()
	replaces, err := t.replaces(ctx, l, b.Digest)
	if err != nil {
		return nil, err
	}
	out = &destination{Layout: to, Tag: items[0].tag}
	if replaces {
		out.Uploaded, err = t.replaceIn(ctx, l, items)
	} else {
		out.Uploaded, err = t.copyItems(ctx, l, items)
	}
	return out, err
}

// items returns what must be copied to a layout: first the component of the module, because it is the root of the layout, and then the
// components that it references, and charts.
func (t *transfer) items(ctx context.Context, b *bundle.Bundle) ([]item, error) {
	artifacts, err := b.Artifacts(ctx)
	if err != nil {
		return nil, err
	}
	slices.Reverse(artifacts)
	var out []item
	for i, a := range artifacts {
		tag, err := bundle.LayoutTag(a.Descriptor)
		if i == 0 {
			tag, err = ocm.Tag(a.Descriptor.Version())
		}
		if err != nil {
			return nil, err
		}
		out = append(out, item{name: nameInProgress(a), from: a.Store, digest: a.Digest, tag: tag})
	}
	err = t.charts(ctx, b, func(c *bundle.Chart, from store.Reader) error {
		out = append(out, item{name: c.Repository + ":" + c.Tag, from: from, digest: c.Digest, tag: c.LayoutTag()})
		return nil
	})
	return out, err
}

// copyItems copies items to a layout in their order, and returns how many blobs and manifests it wrote.
func (t *transfer) copyItems(ctx context.Context, l store.Store, items []item) (uploaded int, err error) {
	for _, i := range items {
		n, err := t.copyArtifact(ctx, i.name, i.from, i.digest, l, i.tag)
		if err != nil {
			return uploaded, err
		}
		uploaded += n
	}
	return uploaded, nil
}

// replaceIn replaces what a layout contains with a module. Until everything is copied, the layout contains what it contained before.
func (t *transfer) replaceIn(ctx context.Context, l *layout.Store, items []item) (uploaded int, err error) {
	staged := slices.Clone(items)
	entries := make([]layout.Entry, 0, len(items))
	for i := range items {
		staged[i].tag = ""
		entries = append(entries, layout.Entry{Digest: items[i].digest, Tag: items[i].tag})
	}
	if uploaded, err = t.copyItems(ctx, unlisted{Store: l, layout: l}, staged); err != nil {
		return uploaded, err
	}
	changed, err := l.Become(ctx, entries)
	if changed {
		uploaded = max(uploaded, 1)
	}
	return uploaded, err
}

// An unlisted layout gets manifests without a tag as blobs, so that they cannot become the root of the layout.
type unlisted struct {
	store.Store

	layout *layout.Store
}

// PutPart writes a manifest that another one references.
func (u unlisted) PutPart(ctx context.Context, data []byte) error { return u.layout.PutPart(ctx, data) }

// PutManifest implements store.Writer.
func (u unlisted) PutManifest(ctx context.Context, data []byte, tag string) error {
	return u.Swap(ctx, data, tag, nil)
}

// Swap is PutManifest, but may can refuse to replace the manifest that has the tag now, as in the layout.
func (u unlisted) Swap(ctx context.Context, data []byte, tag string, may func(have string) error) error {
	m, err := store.ParseManifest(data)
	if err != nil {
		return err
	}
	// Attachments are found by their tag or in the index. They are never the root.
	if tag != "" || m.AttachedTo() != "" {
		return u.layout.Swap(ctx, data, tag, may)
	}
	return u.layout.PutPart(ctx, data)
}

// replaces reports whether the module replaces what a layout contains, because of --overwrite. The layout can contain the module already, and
// leftovers of an earlier attempt. If the flag is not set, replaces returns a store.ExistsError for a module with another digest.
func (t *transfer) replaces(ctx context.Context, l *layout.Store, digest string) (bool, error) {
	tag, have, err := l.Root(ctx)
	if missing := (*store.NotFoundError)(nil); errors.As(err, &missing) {
		return false, nil
	}
	if err != nil || t.overwrite {
		return t.overwrite, err
	}
	if have != digest {
		return false, &store.ExistsError{Store: l.String(), Tag: tag, Have: have, Want: digest}
	}
	return false, nil
}
