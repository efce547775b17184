// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"io"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

const (
	// copies is how many blobs are copied concurrently.
	copies = 4

	// maxKept bounds the manifests of a copy, in bytes, except the first one.
	maxKept = 64 << 20

	// The minimum and maximum delay before a tag is read again.
	minWait = 100 * time.Millisecond
	maxWait = 2 * time.Second
)

// CopyOptions holds the options of a copy.
type CopyOptions struct {
	// Tag is the tag in the destination; empty for none.
	Tag string
	// Overwrite replaces a tag that refers to other content. The tag of an attachment never loses what it contains.
	Overwrite bool
	// Replaces is the digest of content that the tag may have and that the copy replaces, such as that of the
	// unsigned artifact; empty for none.
	Replaces string
	// Attachments copies attachments as well: the content of tags such as sha256-….sig, and referrers.
	Attachments bool
	// Merge returns a manifest with the layers of two manifests, and its config. With Overwrite, it merges the signatures or
	// attestations of the destination and of the source if each have some that the other lacks. It may be nil.
	Merge func(theirs, ours []byte) (manifest, config []byte, err error)
	// Progress receives the number of copied bytes and the total. It may be nil. It is not called concurrently, and
	// done never shrinks.
	Progress func(done, total int64)
}

// Copied is the result of a copy.
type Copied struct {
	Digest string // Digest of the manifest, sha256:….
	// Uploaded is how many blobs and manifests were written. It is 0 if all of them existed.
	Uploaded int
	Bytes    int64 // Number of bytes written.
}

// Copy copies an artifact with its blobs, byte for byte; reference is a tag or digest of from. It writes blobs first
// and the manifest last, so that an interrupted copy can be repeated. It returns an *ExistsError if the tag has other
// content.
//
// Registries cannot set a tag on condition of its previous value. So Copy reads the tag right before writing it, and
// again after a delay of twice the time of that read and write. If two copies write the tag at once, one of them
// finds its own content in the end, and the other one fails with an error about the race. Both may succeed only if
// one takes far longer between its read and its write than the other; then the later one has replaced the earlier
// one. In a layout, one of the two always fails.
//
// Attachments are also compared with those of the destination right before they are written, so that signatures that
// others add during the copy stay.
func Copy(ctx context.Context, from Reader, reference string, to Store, o CopyOptions) (Copied, error) {
	data, digest, err := from.Manifest(ctx, reference)
	if err != nil {
		return Copied{}, err
	}
	if p, ok := to.(pusher); ok {
		p.Push()
	}
	c := &copier{from: from, to: to, options: o, seen: map[string]bool{}}
	done, err := c.copy(ctx, data, digest)
	if err != nil {
		return Copied{}, err
	}
	done.Digest = digest
	return done, nil
}

// A pusher is a store that others may write to at any time, and that may show writers more than readers. A registry
// is one.
type pusher interface {
	// Push announces that the store will be written to.
	Push()
}

// A swapper is a store that can lock a tag while writing it, and whose content is cheap to inspect. A layout is one.
type swapper interface {
	// Swap is PutManifest, but first calls may with the digest that the tag has now, "" for none, and fails with its
	// error.
	Swap(ctx context.Context, data []byte, tag string, may func(have string) error) error
	// PutPart writes a manifest that another one references.
	PutPart(ctx context.Context, data []byte) error
}

// A copier copies one artifact.
type copier struct {
	from    Reader
	to      Store
	options CopyOptions

	// Work to do, in order: blobs, and then manifests.
	blobs     []v1.Descriptor
	manifests []todo
	seen      map[string]bool // Manifests and blobs found, by digest.
	kept      int             // Size of the manifests, in bytes.
	listed    int             // Number of attachments examined.

	progress *progress
}

// A todo is a manifest to write.
type todo struct {
	data   []byte
	digest string
	// tag is empty for none. A part is referenced by another manifest, which comes later.
	tag  string
	part bool
}

func (c *copier) copy(ctx context.Context, data []byte, digest string) (Copied, error) {
	root := todo{data: data, digest: digest, tag: c.options.Tag}
	have, err := c.tagged(ctx, root)
	if err != nil {
		return Copied{}, err
	}
	_, swaps := c.to.(swapper)
	there := have == digest
	if err := c.mayReplace(root.tag, have, digest); err != nil {
		return Copied{}, err
	}
	// If the manifest exists, its blobs exist, because it is written last. A layout is inspected anyway, because that
	// is cheap.
	if err := c.planAll(ctx, root, !there || swaps); err != nil {
		return Copied{}, err
	}
	c.progress = newProgress(c.options.Progress, c.blobs, c.manifests, root, there)
	if err := c.copyAll(ctx); err != nil {
		return Copied{}, err
	}
	switch {
	case !there:
		err = c.putRoot(ctx, root, have)
	case swaps && c.progress.finish().Uploaded > 0:
		// Missing content was restored, so a tar must be written.
		err = c.to.PutManifest(ctx, root.data, root.tag)
	}
	return c.progress.finish(), err
}

// planAll plans what must be written before the manifest itself.
func (c *copier) planAll(ctx context.Context, root todo, blobs bool) error {
	if blobs {
		if err := c.plan(ctx, root.data, root.digest); err != nil {
			return err
		}
	}
	if !c.options.Attachments {
		return nil
	}
	return c.planAttachments(ctx, root.data, root.digest)
}

// copyAll copies the planned blobs and manifests.
func (c *copier) copyAll(ctx context.Context) error {
	if err := c.copyBlobs(ctx); err != nil {
		return err
	}
	for _, m := range c.manifests {
		if err := c.putManifest(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// tagged returns the digest that the destination has under the tag, or under the digest if there is no tag; "" for
// none.
func (c *copier) tagged(ctx context.Context, m todo) (string, error) {
	reference := m.tag
	if reference == "" {
		reference = m.digest
	}
	_, have, err := c.to.Manifest(ctx, reference)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		return "", nil
	}
	return have, err
}

func (c *copier) mayReplace(tag, have, want string) error {
	if have == "" || have == want || c.options.Overwrite || have == c.options.Replaces {
		return nil
	}
	return &ExistsError{Store: c.to.String(), Tag: tag, Have: have, Want: want}
}

// plan adds the blobs of a manifest, and its parts if it is an index.
func (c *copier) plan(ctx context.Context, data []byte, digest string) error {
	c.seen[digest] = true
	m, err := ParseManifest(data)
	if err != nil {
		return errors.Wrapf(err, "cannot copy %s", digest)
	}
	for _, d := range m.Content() {
		if !c.seen[string(d.Digest)] && !IsForeign(d) {
			c.seen[string(d.Digest)] = true
			c.blobs = append(c.blobs, d)
		}
	}
	for _, d := range m.Manifests {
		part := string(d.Digest)
		if c.seen[part] {
			continue
		}
		data, _, err := c.from.Manifest(ctx, part)
		if err != nil {
			return errors.Wrapf(err, "cannot copy %s, which is an index", digest)
		}
		if err := c.planned(ctx, todo{data: data, digest: part, part: true}); err != nil {
			return err
		}
	}
	return nil
}

// planned adds a manifest after its blobs and parts. It fails if all manifests, which are kept in memory, exceed
// maxKept.
func (c *copier) planned(ctx context.Context, m todo) error {
	if c.kept += len(m.data); c.kept > maxKept {
		return errors.Errorf("cannot copy %s: its manifests, and those of the artifacts that refer to it, are larger than "+
			"the limit of %d bytes", m.digest, maxKept)
	}
	if err := c.plan(ctx, m.data, m.digest); err != nil {
		return err
	}
	c.manifests = append(c.manifests, m)
	return nil
}

func (c *copier) copyBlobs(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(copies)
	for _, d := range c.blobs {
		group.Go(func() error {
			return panics.Do("blob "+string(d.Digest), func() error { return c.copyBlob(ctx, d) })
		})
	}
	return group.Wait()
}

func (c *copier) copyBlob(ctx context.Context, d v1.Descriptor) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	digest := string(d.Digest)
	there, err := c.to.Has(ctx, digest)
	if err != nil {
		return err
	}
	if there {
		c.progress.skip(d.Size)
		return nil
	}
	one := c.progress.begin(d.Size)
	err = c.to.PutBlob(ctx, Content{MediaType: d.MediaType, Digest: digest, Size: d.Size}, func(offset int64) (io.ReadCloser, error) {
		r, err := c.from.Blob(ctx, digest, offset)
		if err != nil {
			return nil, err
		}
		return one.follow(r, offset), nil
	})
	if err == nil {
		one.finish()
	}
	return err
}

// putManifest writes a part or an attachment.
func (c *copier) putManifest(ctx context.Context, m todo) error {
	if s, ok := c.to.(swapper); ok && m.part {
		there, err := c.to.Has(ctx, m.digest)
		if err == nil && !there {
			err = s.PutPart(ctx, m.data)
		}
		c.progress.wrote(m, there)
		return err
	}
	if m.tag != "" {
		return c.putAttachment(ctx, m)
	}
	have, err := c.tagged(ctx, m)
	if err != nil {
		return err
	}
	if have == m.digest {
		c.progress.wrote(m, true)
		return nil
	}
	if err := c.to.PutManifest(ctx, m.data, ""); err != nil {
		return err
	}
	c.progress.wrote(m, false)
	return nil
}

// putRoot writes the manifest itself; had is the digest that the tag had at the start of the copy.
func (c *copier) putRoot(ctx context.Context, m todo, had string) error {
	if m.tag == "" {
		c.progress.wrote(m, false)
		return c.to.PutManifest(ctx, m.data, "")
	}
	if s, ok := c.to.(swapper); ok {
		c.progress.wrote(m, false)
		return s.Swap(ctx, m.data, m.tag, func(have string) error { return c.unmoved(m, had, have) })
	}
	start := time.Now()
	have, err := c.tagged(ctx, m)
	if err != nil {
		return err
	}
	if err := c.unmoved(m, had, have); err != nil {
		return err
	}
	if have == m.digest {
		c.progress.wrote(m, true)
		return nil
	}
	if err := c.to.PutManifest(ctx, m.data, m.tag); err != nil {
		return err
	}
	c.progress.wrote(m, false)
	return c.verifyTag(ctx, m, time.Since(start))
}

// unmoved returns an error if the tag has changed since the start of the copy.
func (c *copier) unmoved(m todo, had, have string) error {
	if have == had || have == m.digest || c.options.Overwrite {
		return nil
	}
	if have == "" {
		have = "none"
	}
	return &ExistsError{Store: c.to.String(), Tag: m.tag, Have: have, Want: m.digest, Raced: true}
}

// verifyTag waits for other writers that may have read the tag before this write, and then checks that the tag still points
// to the digest that was written.
func (c *copier) verifyTag(ctx context.Context, m todo, took time.Duration) error {
	if _, ok := c.to.(pusher); ok {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(max(2*took, minWait), maxWait)):
		}
	}
	have, err := c.tagged(ctx, m)
	if err != nil {
		return err
	}
	if have != m.digest {
		if have == "" {
			have = "none"
		}
		return &ExistsError{Store: c.to.String(), Tag: m.tag, Have: have, Want: m.digest, Raced: true}
	}
	return nil
}
