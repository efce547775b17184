// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"container/list"
	"sync"
)

// A memory is a store that lives as long as the process.
type memory struct {
	most int64

	// mu guards the fields below.
	mu    sync.Mutex
	used  int64
	order *list.List // *stored, most recently used first.
	byKey map[string]*list.Element
}

type stored struct {
	key  string
	data []byte
}

func newMemory(size int64) *memory {
	return &memory{most: size, order: list.New(), byKey: map[string]*list.Element{}}
}

// size returns 0, because get returns the bytes that the store has.
func (m *memory) size(string, string) int64 { return 0 }

func (m *memory) get(scope, digest string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.byKey[scope+" "+digest]
	if !ok {
		return nil, false
	}
	m.order.MoveToFront(e)
	return e.Value.(*stored).data, true //nolint:forcetypeassert // Only stored is put in.
}

func (m *memory) put(scope, digest string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := scope + " " + digest
	if _, ok := m.byKey[key]; ok || int64(len(data)) > m.most {
		return
	}
	m.byKey[key] = m.order.PushFront(&stored{key: key, data: data})
	m.used += int64(len(data))
	for m.used > m.most {
		s := m.order.Remove(m.order.Back()).(*stored) //nolint:forcetypeassert // Only stored is put in.
		delete(m.byKey, s.key)
		m.used -= int64(len(s.data))
	}
}
