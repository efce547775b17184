// SPDX-License-Identifier: Apache-2.0

package store

import (
	"io"
	"sync"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// progress sums up what is copied.
type progress struct {
	report func(done, total int64)

	// mu guards the fields below, and is held while report is called.
	mu          sync.Mutex
	done, total int64
	result      Copied
}

func newProgress(report func(done, total int64), blobs []v1.Descriptor, manifests []todo, root todo, there bool) *progress {
	p := &progress{report: report}
	for _, d := range blobs {
		p.total += d.Size
	}
	for _, m := range manifests {
		p.total += int64(len(m.data))
	}
	if !there {
		p.total += int64(len(root.data))
	}
	p.add(0)
	return p
}

func (p *progress) add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if p.report != nil {
		p.report(p.done, p.total)
	}
}

// count adds a blob or manifest of n bytes to the written ones.
func (p *progress) count(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.Uploaded++
	p.result.Bytes += n
}

// skip records a blob that already existed.
func (p *progress) skip(size int64) { p.add(size) }

// wrote records a manifest that was written, or already existed.
func (p *progress) wrote(m todo, there bool) {
	if !there {
		p.count(int64(len(m.data)))
	}
	p.add(int64(len(m.data)))
}

func (p *progress) finish() Copied {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.result
}

func (p *progress) begin(size int64) *blobProgress { return &blobProgress{all: p, size: size} }

// A blobProgress is the progress of one blob, which may be read again from the beginning.
type blobProgress struct {
	all  *progress
	size int64

	mu   sync.Mutex
	done int64
}

// reach records that the blob was read up to at.
func (b *blobProgress) reach(at int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at = min(at, b.size)
	if at > b.done {
		b.all.add(at - b.done)
		b.done = at
	}
}

func (b *blobProgress) finish() {
	b.reach(b.size)
	b.all.count(b.size)
}

func (b *blobProgress) follow(r io.ReadCloser, offset int64) io.ReadCloser {
	b.reach(offset)
	return &followed{ReadCloser: r, progress: b, at: offset}
}

type followed struct {
	io.ReadCloser

	progress *blobProgress
	at       int64
}

func (f *followed) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	f.at += int64(n)
	f.progress.reach(f.at)
	return n, err
}
