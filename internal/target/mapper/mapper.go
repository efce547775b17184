// SPDX-License-Identifier: Apache-2.0

package mapper

import (
	"context"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// These are the times for which discovered and learned mappings, and missing kinds, are cached.
const (
	foundFor   = 10 * time.Minute
	missingFor = 5 * time.Second
)

// A Table contains the mappings that all clusters share.
type Table map[schema.GroupVersionKind]cluster.Mapping

// A Mapper maps the kinds of one cluster. It is safe for concurrent use.
type Mapper struct {
	get     notfound.GetFunc
	builtin Table
	now     func() time.Time

	mu       sync.Mutex
	learned  map[schema.GroupVersionKind]lesson
	versions map[schema.GroupVersion]*version
}

// A version holds the discovered kinds of a group version.
type version struct {
	// asking is held during discovery, so that only one caller sends requests.
	asking chan struct{}
	// kinds, their size, and asked, the time of their discovery, are guarded by the mutex of the mapper.
	kinds map[string]cluster.Mapping
	size  int
	asked time.Time
}

// New returns a mapper. It does not change the table, which can be shared.
func New(get notfound.GetFunc, builtin Table) *Mapper {
	return &Mapper{
		get:      get,
		builtin:  builtin,
		now:      time.Now,
		learned:  map[schema.GroupVersionKind]lesson{},
		versions: map[schema.GroupVersion]*version{},
	}
}

// A lesson is a learned mapping.
type lesson struct {
	cluster.Mapping

	at time.Time
}

// AddMapping stores a mapping, for example that of a CRD that is being installed. The mapping expires after some time. AddMapping
// ignores a mapping that contradicts a known one, because a CRD with the kind of another CRD is never established. It
// also ignores a mapping while there are too many.
func (m *Mapper) AddMapping(gvk schema.GroupVersionKind, mapping cluster.Mapping) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if l, ok := m.learned[gvk]; ok && l.Mapping != mapping && now.Sub(l.at) < foundFor {
		return
	}
	if v := m.versions[gvk.GroupVersion()]; v != nil && now.Sub(v.asked) < foundFor {
		if found, ok := v.kinds[gvk.Kind]; ok && found != mapping {
			return
		}
	}
	if m.tidy()+sizeOfLesson(gvk, mapping) > mostLearned {
		return
	}
	m.learned[gvk] = lesson{Mapping: mapping, at: now}
}

// Mapping returns the mapping of a kind. It sends one request if the kind is neither built in nor learned and its group
// version was not discovered recently, and a second one if the first is not found. If the cluster does not serve the
// kind, the error is a *cluster.NoKindError.
func (m *Mapper) Mapping(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error) {
	if found, ok := m.builtin[gvk]; ok {
		return found, nil
	}
	v := m.version(gvk.GroupVersion())
	if found, err := m.known(gvk, v); err == nil || isNoKind(err) {
		return found, err
	}
	select {
	case v.asking <- struct{}{}:
		defer func() { <-v.asking }()
	case <-ctx.Done():
		return cluster.Mapping{}, errors.Wrapf(context.Cause(ctx), "stopped waiting for the kinds of %s", gvk.GroupVersion())
	}
	if found, err := m.known(gvk, v); err == nil || isNoKind(err) {
		return found, err
	}
	found, err := m.discover(ctx, gvk.GroupVersion())
	if err != nil {
		return cluster.Mapping{}, errors.Wrapf(err, "cannot discover the kinds of %s", gvk.GroupVersion())
	}
	m.mu.Lock()
	v.kinds, v.size, v.asked = found.mappings, found.size, m.now()
	m.bound(v)
	m.mu.Unlock()
	return m.known(gvk, v)
}

// version returns the known version, or adds an empty one.
func (m *Mapper) version(gv schema.GroupVersion) *version {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.versions[gv]
	if v == nil {
		m.tidy()
		v = &version{asking: make(chan struct{}, 1)}
		m.versions[gv] = v
	}
	return v
}

// tidy removes expired versions and lessons, because modules may refer to any number of kinds that do not exist. It keeps
// versions that are being discovered. It returns the size of the remaining lessons. The caller holds the mutex.
func (m *Mapper) tidy() int {
	now := m.now()
	for gv, v := range m.versions {
		age := now.Sub(v.asked)
		if len(v.asking) == 0 && (age > foundFor || len(v.kinds) == 0 && age > missingFor) {
			delete(m.versions, gv)
		}
	}
	size := 0
	for gvk, l := range m.learned {
		if now.Sub(l.at) > foundFor {
			delete(m.learned, gvk)
			continue
		}
		size += sizeOfLesson(gvk, l.Mapping)
	}
	return size
}

// errUnknown means that discovery is necessary.
var errUnknown = errors.New("not known yet")

// known returns the mapping of a kind without a request, or errUnknown.
func (m *Mapper) known(gvk schema.GroupVersionKind, v *version) (cluster.Mapping, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l, ok := m.learned[gvk]; ok && m.now().Sub(l.at) < foundFor {
		return l.Mapping, nil
	}
	age := m.now().Sub(v.asked)
	found, ok := v.kinds[gvk.Kind]
	if ok && age < foundFor {
		return found, nil
	}
	if !ok && age < missingFor {
		return cluster.Mapping{}, &cluster.NoKindError{GVK: gvk}
	}
	return cluster.Mapping{}, errUnknown
}

func isNoKind(err error) bool {
	e := (*cluster.NoKindError)(nil)
	return errors.As(err, &e)
}

func (m *Mapper) discover(ctx context.Context, gv schema.GroupVersion) (served, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	resources, err := notfound.Resources(ctx, m.get, gv)
	found := served{mappings: map[string]cluster.Mapping{}}
	for _, r := range resources {
		if strings.Contains(r.Name, "/") || r.Name == "" {
			continue
		}
		if err := found.add(r.Kind, cluster.Mapping{Resource: r.Name, Namespaced: r.Namespaced}); err != nil {
			return served{}, err
		}
	}
	return found, err
}
