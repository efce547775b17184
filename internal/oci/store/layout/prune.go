// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

// Prune removes all manifests except one and its attachments, and all unreferenced blobs. keep is a tag, which then
// becomes the only tag of its manifest, or a digest, which keeps all its tags. also lists digests that are kept too,
// if they exist.
func (l *Store) Prune(ctx context.Context, keep string, also ...string) error {
	return l.locked(ctx, func() error {
		i, err := l.readIndex()
		if err != nil {
			return err
		}
		root := keep
		if !oci.ValidDigest(keep) {
			if root, err = i.find(keep); err != nil {
				return errors.Wrapf(err, "image layout %s", l)
			}
		}
		if root == "" || !slices.ContainsFunc(i.Manifests, func(d v1.Descriptor) bool { return string(d.Digest) == root }) {
			return &store.NotFoundError{What: "manifest \"" + keep + "\"", Store: l.path}
		}
		k := &kept{layout: l, manifests: map[string]bool{}, blobs: map[string]bool{}, entries: map[string]bool{}}
		if err := k.visit(root); err != nil {
			return err
		}
		if err := k.also(i, also); err != nil {
			return err
		}
		if err := k.attached(ctx, i); err != nil {
			return err
		}
		before := len(i.Manifests)
		i.Manifests = slices.DeleteFunc(i.Manifests, func(d v1.Descriptor) bool {
			if string(d.Digest) == root {
				return keep != root && tagOf(d) != keep
			}
			return !k.listed(d)
		})
		if err := l.finish(i, len(i.Manifests) != before); err != nil {
			return err
		}
		return errors.Wrapf(l.sweep(k), "cannot remove blobs from %s", l)
	})
}

// An Entry is a manifest with its tag.
type Entry struct{ Digest, Tag string }

// Become makes a layout contain only the given manifests, which must exist with everything that they reference, and their attachments. It reports
// whether something changed. The index changes in one step, so that the layout contains either what it contained before or the given manifests.
func (l *Store) Become(ctx context.Context, entries []Entry) (changed bool, err error) {
	err = l.locked(ctx, func() error {
		before, err := l.readIndex()
		if err != nil {
			return err
		}
		k := &kept{layout: l, manifests: map[string]bool{}, blobs: map[string]bool{}, entries: map[string]bool{}}
		after := &index{before.Index}
		after.Manifests = nil
		for _, e := range entries {
			d, err := l.whole(e.Digest)
			if err == nil {
				err = k.visit(e.Digest)
			}
			if err != nil {
				return err
			}
			after.put(d, e.Tag)
		}
		if err := k.attached(ctx, before); err != nil {
			return err
		}
		for _, d := range before.Manifests {
			if k.listed(d) && after.put(d, "") {
				after.Manifests[len(after.Manifests)-1].Annotations = d.Annotations
			}
		}
		if changed, err = after.differs(before); err != nil {
			return err
		}
		if err := l.finish(after, changed); err != nil {
			return err
		}
		return errors.Wrapf(l.sweep(k), "cannot remove blobs from %s", l)
	})
	return changed, err
}

// whole returns the descriptor of a manifest that exists with everything that it references.
func (l *Store) whole(digest string) (v1.Descriptor, error) {
	data, err := l.manifest(digest)
	if err != nil {
		return v1.Descriptor{}, err
	}
	m, err := store.ParseManifest(data)
	if err != nil {
		return v1.Descriptor{}, errors.Wrapf(err, "manifest %s of %s", digest, l)
	}
	d := descriptorOf(m, data)
	return d, errors.Wrapf(l.complete(m, d), "manifest %s of %s", digest, l)
}

// Drop removes those of the given blobs and manifests that nothing in the layout references. It keeps all others, so
// that it does not disturb writers.
func (l *Store) Drop(ctx context.Context, digests ...string) error {
	return l.locked(ctx, func() error {
		i, err := l.readIndex()
		if err != nil {
			return err
		}
		k := &kept{layout: l, manifests: map[string]bool{}, blobs: map[string]bool{}, entries: map[string]bool{}}
		for _, d := range i.Manifests {
			if err := k.visit(string(d.Digest)); err != nil {
				return err
			}
		}
		for _, digest := range digests {
			if !oci.ValidDigest(digest) || k.blobs[digest] {
				continue
			}
			if err := l.remove(digest); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return errors.Wrapf(err, "cannot remove a blob from %s", l)
			}
		}
		return nil
	})
}

// remove removes a blob.
func (l *Store) remove(digest string) error {
	if err := l.root.Remove(blobName(digest)); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.good, digest)
	l.changed = true
	return nil
}

// kept is the content to keep in a layout.
type kept struct {
	layout    *Store
	manifests map[string]bool
	blobs     map[string]bool // Manifests and the blobs that they reference.
	entries   map[string]bool // Manifests besides the main one, by digest.
}

// visit keeps a manifest with everything that it references.
func (k *kept) visit(digest string) error {
	if k.manifests[digest] {
		return nil
	}
	m, err := k.layout.parsed(digest)
	if err != nil {
		return err
	}
	k.manifests[digest], k.blobs[digest] = true, true
	for _, d := range m.Content() {
		k.blobs[string(d.Digest)] = true
	}
	for _, d := range m.Manifests {
		err := k.visit(string(d.Digest))
		var missing *store.NotFoundError
		// Some tools omit platforms on purpose.
		if err != nil && !errors.As(err, &missing) {
			return err
		}
	}
	return nil
}

// also keeps further manifests, if they exist.
func (k *kept) also(i *index, digests []string) error {
	for _, d := range i.Manifests {
		digest := string(d.Digest)
		if !slices.Contains(digests, digest) {
			continue
		}
		if err := k.visit(digest); err != nil {
			return err
		}
		k.entries[digest] = true
	}
	return nil
}

// attached keeps the attachments of kept manifests, recursively.
func (k *kept) attached(ctx context.Context, i *index) error {
	for more := true; more; {
		more = false
		for _, d := range i.Manifests {
			digest := string(d.Digest)
			if k.entries[digest] {
				continue
			}
			b, err := k.layout.brief(ctx, digest)
			if err != nil {
				return err
			}
			if !k.manifests[b.subject] && !k.isAbout(tagOf(d)) {
				continue
			}
			if err := k.visit(digest); err != nil {
				return err
			}
			k.entries[digest], more = true, true
		}
	}
	return nil
}

// isAbout reports whether a tag is an attachment tag of a kept manifest.
func (k *kept) isAbout(tag string) bool {
	if !isAttachment(tag) {
		return false
	}
	hex, _, _ := strings.Cut(strings.TrimPrefix(tag, "sha256-"), ".")
	return k.manifests["sha256:"+hex]
}

// listed reports whether an entry of the index stays.
func (k *kept) listed(d v1.Descriptor) bool {
	tag := tagOf(d)
	return k.entries[string(d.Digest)] && (tag == "" || k.isAbout(tag) || !isAttachment(tag))
}

// sweep removes all blobs that are not kept.
func (l *Store) sweep(k *kept) error {
	names, err := l.list()
	if err != nil {
		return err
	}
	for _, name := range names {
		digest := "sha256:" + name
		if !oci.ValidDigest(digest) || k.blobs[digest] {
			continue
		}
		if err := l.remove(digest); err != nil {
			return err
		}
	}
	return nil
}
