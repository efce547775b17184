// SPDX-License-Identifier: Apache-2.0

package cosign

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
)

// A memory is a store in memory.
type memory struct {
	mu        sync.Mutex
	manifests map[string][]byte // By tag.
	blobs     map[string][]byte
	writes    int
	// before is called before a manifest is written. It can be nil.
	before func(m *memory)
}

func newMemory() *memory { return &memory{manifests: map[string][]byte{}, blobs: map[string][]byte{}} }

func (m *memory) String() string { return "memory" }

func (m *memory) Manifest(_ context.Context, reference string) (data []byte, digest string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.manifests[reference]
	if !ok {
		return nil, "", &store.NotFoundError{What: "manifest " + reference, Store: "memory"}
	}
	return data, contentOf("", data).Digest, nil
}

func (m *memory) Blob(_ context.Context, digest string, offset int64) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.blobs[digest]
	if !ok {
		return nil, &store.NotFoundError{What: "blob " + digest, Store: "memory"}
	}
	return io.NopCloser(bytes.NewReader(data[offset:])), nil
}

func (m *memory) Tags(context.Context) ([]string, error) { return nil, nil }

func (m *memory) Has(_ context.Context, digest string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.blobs[digest]
	return ok, nil
}

func (m *memory) PutBlob(_ context.Context, c store.Content, open func(int64) (io.ReadCloser, error)) error {
	r, err := open(0)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blobs[c.Digest] = data
	return nil
}

func (m *memory) PutManifest(_ context.Context, data []byte, tag string) error {
	if m.before != nil {
		m.before(m)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.manifests[tag] = data
	m.writes++
	return nil
}

func (m *memory) put(data []byte) string {
	c := contentOf("", data)
	m.blobs[c.Digest] = data
	return c.Digest
}
