// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

// Has implements store.Writer. It reads the whole blob once, because disks and other programs may have changed it.
func (l *Store) Has(ctx context.Context, digest string) (bool, error) {
	if err := store.CheckBlob(digest, 0); err != nil {
		return false, err
	}
	l.mu.Lock()
	good := l.good[digest]
	l.mu.Unlock()
	f, err := l.openBlob(digest)
	var missing *store.NotFoundError
	if errors.As(err, &missing) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if good {
		return true, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, &stoppable{ctx.Err, f}); err != nil {
		return false, errors.Wrapf(err, "cannot read blob %s in %s", digest, l)
	}
	if digestSum(h) != digest {
		return false, nil
	}
	l.isGood(digest)
	return true, nil
}

func (l *Store) isGood(digest string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.good[digest] = true
}

// A stoppable is a reader that fails as soon as stop returns an error.
type stoppable struct {
	stop func() error
	r    io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.stop(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// PutBlob implements store.Writer. A partially written blob lies next to the blobs, named by digest; its writer has
// locked it, and other writers wait.
func (l *Store) PutBlob(ctx context.Context, c store.Content, open func(offset int64) (io.ReadCloser, error)) error {
	if err := store.CheckDescriptor(v1.Descriptor{Digest: digest.Digest(c.Digest), Size: c.Size}); err != nil {
		return errors.Wrapf(err, "cannot write a blob to %s", l)
	}
	if l.root == nil {
		return errors.Errorf("image layout %s is open read-only", l.path)
	}
	for {
		if ok, err := l.Has(ctx, c.Digest); ok || err != nil {
			return err
		}
		done, err := l.write(ctx, c, open)
		if err != nil {
			return errors.Wrapf(err, "cannot write blob %s to %s", c.Digest, l)
		}
		if done {
			break
		}
	}
	l.isGood(c.Digest)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blobs = true
	return nil
}

// write writes a blob. It returns false if another process has moved or removed the partial file meanwhile.
func (l *Store) write(ctx context.Context, c store.Content, open func(offset int64) (io.ReadCloser, error)) (bool, error) {
	if err := l.root.MkdirAll(blobsDir, 0o755); err != nil {
		return false, err
	}
	name := partialName(c.Digest)
	if err := l.removeOdd(name); err != nil {
		return false, err
	}
	f, err := l.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := lock(ctx, f); err != nil {
		return false, err
	}
	if same, err := l.isStill(f, name); !same || err != nil {
		return false, err
	}
	p := &partial{Content: c, file: f}
	if err := p.complete(ctx, open); err != nil {
		// Data that cannot become valid is not kept, and neither is an empty file.
		if p.wrong || p.n == 0 {
			_ = l.root.Remove(name)
		}
		return false, err
	}
	if err := f.Sync(); err != nil {
		return false, err
	}
	return true, l.root.Rename(name, blobName(c.Digest))
}

// removeOdd removes a file in the place of a partial blob if it is not a regular file: reading a pipe would never
// end, and a link leads elsewhere.
func (l *Store) removeOdd(name string) error {
	info, err := l.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Mode().IsRegular() {
		return err
	}
	return l.root.Remove(name)
}

// isStill reports whether name is still f, which another process may have moved or removed.
func (l *Store) isStill(f *os.File, name string) (bool, error) {
	have, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := l.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(have, now), err
}

// A partial is a partially written blob.
type partial struct {
	store.Content

	file  *os.File
	hash  hash.Hash
	n     int64
	wrong bool
}

// complete reads the existing data and then writes what is missing. If the result is wrong, it starts over once.
func (p *partial) complete(ctx context.Context, open func(offset int64) (io.ReadCloser, error)) error {
	p.hash = sha256.New()
	var err error
	if p.n, err = io.Copy(p.hash, io.LimitReader(&stoppable{ctx.Err, p.file}, p.Size+1)); err != nil {
		return err
	}
	if p.n > 0 && p.n <= p.Size {
		err := p.rest(ctx, open)
		if err == nil || !p.wrong {
			return err
		}
	}
	p.wrong, p.n, p.hash = false, 0, sha256.New()
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return p.rest(ctx, open)
}

// rest writes the data after the hashed part.
func (p *partial) rest(ctx context.Context, open func(offset int64) (io.ReadCloser, error)) error {
	if p.n < p.Size || p.Size == 0 {
		r, err := open(p.n)
		if err != nil {
			return err
		}
		n, err := io.Copy(io.MultiWriter(p.file, p.hash), io.LimitReader(&stoppable{ctx.Err, r}, p.Size-p.n+1))
		_ = r.Close()
		p.n += n
		var other *store.DigestError
		if errors.As(err, &other) {
			p.wrong = true
		}
		if err != nil {
			return err
		}
	}
	p.wrong = true
	if p.n != p.Size {
		return errors.Errorf("the source has %d or more bytes instead of the %d bytes in the manifest", p.n, p.Size)
	}
	if got := digestSum(p.hash); got != p.Digest {
		return &store.DigestError{Want: p.Digest, Got: got}
	}
	p.wrong = false
	return nil
}

// PutManifest implements store.Writer.
func (l *Store) PutManifest(ctx context.Context, data []byte, tag string) error {
	return l.Swap(ctx, data, tag, nil)
}

// Swap is PutManifest, but first calls may with the digest that the tag has now, "" for none, and fails with its
// error. Nothing else can change the tag meanwhile.
func (l *Store) Swap(ctx context.Context, data []byte, tag string, may func(have string) error) error {
	m, err := store.ParseManifest(data)
	if err != nil {
		return errors.Wrapf(err, "cannot write a manifest to %s", l)
	}
	if tag != "" && !oci.ValidTag(tag) {
		return errors.Errorf("cannot write a manifest to %s: malformed tag %.200q", l, tag)
	}
	if err := l.PutPart(ctx, data); err != nil {
		return err
	}
	d := descriptorOf(m, data)
	return l.locked(ctx, func() error {
		if err := l.complete(m, d); err != nil {
			return errors.Wrapf(err, "cannot write manifest %s to %s", d.Digest, l)
		}
		i, err := l.readIndex()
		if err != nil {
			return err
		}
		have, err := i.find(tag)
		if err != nil {
			return err
		}
		if may != nil {
			if err := may(have); err != nil {
				return err
			}
		}
		return l.finish(i, i.put(d, tag))
	})
}

// descriptorOf returns the descriptor of a manifest.
func descriptorOf(m *store.Manifest, data []byte) v1.Descriptor {
	return v1.Descriptor{MediaType: m.MediaType, Digest: digest.Digest(oci.DigestOf(data)), Size: int64(len(data))}
}

// PutPart writes a manifest that another one references.
func (l *Store) PutPart(ctx context.Context, data []byte) error {
	if len(data) > store.MaxManifest {
		return errors.Wrapf(&store.TooLargeError{Limit: store.MaxManifest}, "cannot write a manifest to %s", l)
	}
	return l.PutBlob(ctx, store.Content{Digest: oci.DigestOf(data), Size: int64(len(data))}, func(offset int64) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data[offset:])), nil
	})
}

// finish writes the index if it has changed.
func (l *Store) finish(i *index, changed bool) error {
	if changed {
		data, err := i.encode()
		if err != nil {
			return err
		}
		if len(data) > maxIndex || len(i.Manifests) > maxListed {
			return errors.Errorf("image layout %s is full", l)
		}
		if err := l.publish(indexFile, data); err != nil {
			return errors.Wrapf(err, "cannot write index.json of %s", l)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed = l.changed || changed || l.blobs
	l.done, l.blobs = true, false
	return nil
}

// complete returns an error unless everything that a manifest references exists. Another process may have pruned the
// layout.
func (l *Store) complete(m *store.Manifest, d v1.Descriptor) error {
	for _, c := range append(append(m.Content(), m.Manifests...), d) {
		if store.IsForeign(c) {
			continue
		}
		info, err := l.root.Stat(blobName(string(c.Digest)))
		if errors.Is(err, fs.ErrNotExist) {
			return errors.Errorf("the manifest refers to missing blob %s", c.Digest)
		}
		if err != nil {
			return err
		}
		if info.Size() != c.Size {
			return errors.Errorf("the manifest declares %[2]d bytes for blob %[1]s, which has %[3]d", c.Digest, c.Size, info.Size())
		}
	}
	return nil
}

func digestSum(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }
