// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

const (
	// enoughRepairs of one field, taken by the same manager each time, are made within fightTime. Then it is left to that one.
	enoughRepairs = 5
	fightTime     = 10 * time.Minute
	// mostBouts are counted for one object.
	mostBouts = 32
	// rarely is how often an object is put back that goes again and again: there is no field that could be left to others.
	rarely = time.Minute
)

// fights about fields, as they are counted between two calls. What is forgotten is counted anew.
type fights struct {
	mu sync.Mutex
	by map[cluster.ObjectRef][]bout
}

// A bout is about one field, with one manager. With an empty path it is about the object itself, with whomever.
type bout struct {
	path        string
	manager     string
	repairs     int
	since, last time.Time
}

// repaired fields of an object, which others had taken before.
func (f *fights) repaired(k cluster.ObjectRef, before []metav1.ManagedFieldsEntry, lost *fieldpath.Set, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	holders := holdersOf(before)
	paths := fieldset.All(lost)
	for _, p := range paths[:min(len(paths), mostBouts)] {
		if isIdentity(p) {
			f.add(k, "", "", now)
			continue
		}
		f.add(k, fieldset.Encode(p), holders.of(p), now)
	}
}

// putBack an object that was gone.
func (f *fights) putBack(k cluster.ObjectRef, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(k, "", "", now)
}

// paused says whether an object was put back often enough for now.
func (f *fights) paused(k cluster.ObjectRef, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.by[k] {
		if b.path == "" && b.repairs >= enoughRepairs && now.Sub(b.since) < fightTime {
			return now.Sub(b.last) < rarely
		}
	}
	return false
}

// isIdentity says whether a field is one by which an object is known to be ours. It cannot be left to others.
func isIdentity(p fieldpath.Path) bool {
	return len(p) == 3 && (fieldset.Below(p, "metadata", "labels", object.LabelPartOf) || fieldset.Below(p, "metadata", "labels", object.LabelManagedBy))
}

func (f *fights) add(k cluster.ObjectRef, path, manager string, now time.Time) {
	if f.by == nil {
		f.by = map[cluster.ObjectRef][]bout{}
	}
	f.by[k] = count(f.by[k], path, manager, now)
}

func count(bouts []bout, path, manager string, now time.Time) []bout {
	for i := range bouts {
		b := &bouts[i]
		if b.path != path || b.manager != manager {
			continue
		}
		if now.Sub(b.since) >= fightTime {
			b.repairs, b.since = 0, now
		}
		b.repairs++
		b.last = now
		return bouts
	}
	if len(bouts) >= mostBouts {
		bouts = bouts[1:]
	}
	return append(bouts, bout{path: path, manager: manager, repairs: 1, since: now, last: now})
}

// lost are the fights about fields of an object that were repaired often enough.
func (f *fights) lost(k cluster.ObjectRef, now time.Time) []yield {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []yield
	for _, b := range f.by[k] {
		if b.path != "" && b.repairs >= enoughRepairs && now.Sub(b.since) < fightTime {
			out = append(out, yield{Path: b.path, Manager: b.manager, Since: now.Unix()})
		}
	}
	return out
}

// forget the fights about an object.
func (f *fights) forget(k cluster.ObjectRef) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.by, k)
}

// forgetIf a function says that an object is gone.
func (f *fights) forgetIf(gone func(k cluster.ObjectRef) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.by, func(k cluster.ObjectRef, _ []bout) bool { return gone(k) })
}

// objects that there were fights about.
func (f *fights) objects() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.by)
}

// holders are who has fields that are not ours.
type holders struct {
	names  []string
	fields []*fieldpath.Set
	// last is who wrote last: whoever removed a field has it no more.
	last string
}

func holdersOf(managed []metav1.ManagedFieldsEntry) holders {
	var out holders
	var at time.Time
	for i := range managed {
		m := &managed[i]
		if isOurs(m) || m.Subresource == "status" {
			continue
		}
		if s := fieldset.Of(m.FieldsV1); s != nil {
			out.names, out.fields = append(out.names, m.Manager), append(out.fields, s)
		}
		if m.Time != nil && !m.Time.Time.Before(at) {
			out.last, at = m.Manager, m.Time.Time
		}
	}
	return out
}

func (h *holders) of(p fieldpath.Path) string {
	for i, s := range h.fields {
		if s.Has(p) {
			return h.names[i]
		}
	}
	return h.last
}
