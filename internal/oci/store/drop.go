// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"io/fs"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

// Drop removes those of some blobs and manifests that nothing in the layout
// refers to. Others stay, so that it does not disturb who is writing.
func (l *Layout) Drop(ctx context.Context, digests ...string) error {
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

// remove a blob.
func (l *Layout) remove(digest string) error {
	if err := l.root.Remove(blobName(digest)); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.good, digest)
	l.changed = true
	return nil
}
