// SPDX-License-Identifier: Apache-2.0

package record

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An Event is a change of an object. Old is nil for a new object, and New is nil for an object that was deleted.
type Event struct {
	Key

	Version  uint64
	Old, New *Record
}

// A Store has the objects of a cluster. It is safe for concurrent use; a caller that reads and then writes needs a lock of its own.
type Store struct {
	mu      sync.RWMutex
	objects map[Key]*Record
	version uint64
	// history is the maximum number of events that are kept. Those up to forgotten are not known anymore.
	history   int
	forgotten uint64
	events    []Event
	watchers  map[chan struct{}]schema.GroupResource
}

// NewStore returns an empty store that remembers some events. Its first version is large, as in a cluster that has
// run for some time.
func NewStore(history int) *Store {
	const first = 100000
	return &Store{objects: map[Key]*Record{}, version: first, history: history, forgotten: first}
}

// Version returns the version of the latest change.
func (s *Store) Version() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

// Get returns an object, or nil.
func (s *Store) Get(k Key) *Record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.objects[k]
}

// Put stores an object with the next version, which the function must set.
func (s *Store) Put(k Key, with func(version uint64) (*Record, error)) (*Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := with(s.version + 1)
	if err != nil {
		return nil, err
	}
	old := s.objects[k]
	if old == nil {
		k = k.Interned()
	}
	s.objects[k] = r
	s.add(Event{Key: k, Old: old, New: r})
	return r, nil
}

// Delete deletes an object, and returns the version of the deletion.
func (s *Store) Delete(k Key) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.objects[k]
	if old == nil {
		return s.version
	}
	delete(s.objects, k)
	s.add(Event{Key: k.Interned(), Old: old})
	return s.version
}

// add adds an event with the next version and wakes the watchers of its resource.
func (s *Store) add(e Event) {
	s.version++
	e.Version = s.version
	if len(s.events) >= s.history {
		drop := max(len(s.events)/4, 1)
		s.forgotten = s.events[drop-1].Version
		n := copy(s.events, s.events[drop:])
		clear(s.events[n:])
		s.events = s.events[:n]
	}
	s.events = append(s.events, e)
	for c, r := range s.watchers {
		if r == e.GroupResource {
			wake(c)
		}
	}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// List returns the objects of a resource at a version, sorted by namespace and name, and the version. An empty namespace means all
// namespaces, and version 0 the latest one. It returns false for a version that is not known anymore, or not yet.
func (s *Store) List(of schema.GroupResource, namespace string, version uint64) (keys []Key, records []*Record, at uint64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if version == 0 {
		version = s.version
	}
	if version < s.forgotten || version > s.version {
		return nil, nil, 0, false
	}
	found := map[Key]*Record{}
	for k, r := range s.objects {
		if k.GroupResource == of {
			found[k] = r
		}
	}
	for _, e := range slices.Backward(s.events) {
		if e.Version <= version {
			break
		}
		if e.GroupResource != of {
			continue
		}
		if delete(found, e.Key); e.Old != nil {
			found[e.Key] = e.Old
		}
	}
	maps.DeleteFunc(found, func(k Key, _ *Record) bool { return namespace != "" && k.Namespace != namespace })
	keys = slices.SortedFunc(maps.Keys(found), Compare)
	for _, k := range keys {
		records = append(records, found[k])
	}
	return keys, records, version, true
}

// Compare orders keys by namespace and name.
func Compare(a, b Key) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// All returns the keys of all objects.
func (s *Store) All() []Key {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Keys(s.objects))
}

// Since returns the events of a resource after a version, and the latest version. It returns false, and the oldest version that is
// known, if later events are not known anymore.
func (s *Store) Since(of schema.GroupResource, version uint64) (events []Event, latest uint64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if version < s.forgotten {
		return nil, s.forgotten, false
	}
	for _, e := range s.events {
		if e.Version > version && e.GroupResource == of {
			events = append(events, e)
		}
	}
	return events, s.version, true
}

// Watch returns a channel that receives a value after changes of a resource, and a function that ends this.
func (s *Store) Watch(of schema.GroupResource) (woken <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers == nil {
		s.watchers = map[chan struct{}]schema.GroupResource{}
	}
	s.watchers[c] = of
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, c)
	}
}

// Expire forgets the history, so that watches and pages from earlier versions fail.
func (s *Store) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events, s.forgotten = nil, s.version
}
