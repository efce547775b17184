// SPDX-License-Identifier: Apache-2.0

package ownership

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
	// MaxRepairs is how often the engine repairs one field within Window where the same manager takes it each time. Then it
	// cedes the field.
	MaxRepairs = 5
	// Window is the time in which repairs are counted.
	Window = 10 * time.Minute
	// maxRecords bounds what is counted for one object.
	maxRecords = 32
	// RestoreInterval is the shortest time between two restorations of an object that others delete again and again. It has no
	// field that the engine could cede.
	RestoreInterval = time.Minute
)

// Contention counts how often fields of the objects of a bundle were repaired. The zero value has counted nothing. It is safe for
// concurrent use, and may be lost: counting then starts again.
type Contention struct {
	mu sync.Mutex
	by map[cluster.ObjectRef][]record
}

// A record counts the repairs of one field that one manager takes. An empty path stands for the object itself, with any manager.
type record struct {
	path        string
	manager     string
	repairs     int
	since, last time.Time
}

// Repaired counts a repair that a manager, that of the engine, made of fields of an object. Before are its managedFields before the
// repair.
func (f *Contention) Repaired(manager string, k cluster.ObjectRef, before []metav1.ManagedFieldsEntry, lost *fieldpath.Set, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	holders := holdersOf(manager, before)
	paths := fieldset.All(lost)
	identity := false
	for _, p := range paths[:min(len(paths), maxRecords)] {
		if IsIdentity(p) {
			// Several labels that are lost at once are one repair.
			if !identity {
				f.add(k, "", "", now)
			}
			identity = true
			continue
		}
		f.add(k, fieldset.Encode(p), holders.of(p), now)
	}
}

// Restored counts that an object was created again after others had deleted it.
func (f *Contention) Restored(k cluster.ObjectRef, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(k, "", "", now)
}

// AllPaused returns the objects that were restored so often that the next repair has to wait; nil for none.
func (f *Contention) AllPaused(now time.Time) map[cluster.ObjectRef]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out map[cluster.ObjectRef]bool
	for k, records := range f.by {
		if !paused(records, now) {
			continue
		}
		if out == nil {
			out = map[cluster.ObjectRef]bool{}
		}
		out[k] = true
	}
	return out
}

func paused(records []record, now time.Time) bool {
	for _, b := range records {
		if b.path == "" && b.repairs >= MaxRepairs && now.Sub(b.since) < Window {
			return now.Sub(b.last) < RestoreInterval
		}
	}
	return false
}

// IsIdentity reports whether a field is a label by which the engine recognises its objects. Such a field is never ceded.
func IsIdentity(p fieldpath.Path) bool {
	return len(p) == 3 && (fieldset.Below(p, "metadata", "labels", object.LabelPartOf) || fieldset.Below(p, "metadata", "labels", object.LabelManagedBy))
}

// add one repair of a field.
func (f *Contention) add(k cluster.ObjectRef, path, manager string, now time.Time) {
	if f.by == nil {
		f.by = map[cluster.ObjectRef][]record{}
	}
	f.by[k] = count(f.by[k], path, manager, now)
}

// count returns records with one more repair.
func count(records []record, path, manager string, now time.Time) []record {
	for i := range records {
		b := &records[i]
		if b.path != path || b.manager != manager {
			continue
		}
		if now.Sub(b.since) >= Window {
			b.repairs, b.since = 0, now
		}
		b.repairs++
		b.last = now
		return records
	}
	if len(records) >= maxRecords {
		records = records[1:]
	}
	return append(records, record{path: path, manager: manager, repairs: 1, since: now, last: now})
}

// Ceded returns the fields of an object that were repaired so often that they are ceded now.
func (f *Contention) Ceded(k cluster.ObjectRef, now time.Time) []Ceded {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Ceded
	for _, b := range f.by[k] {
		if b.path != "" && b.repairs >= MaxRepairs && now.Sub(b.since) < Window {
			out = append(out, Ceded{Path: b.path, Manager: b.manager, Since: now.Unix()})
		}
	}
	return out
}

// Forget what was counted for an object.
func (f *Contention) Forget(k cluster.ObjectRef) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.by, k)
}

// ForgetIf forgets the objects that a function reports as gone.
func (f *Contention) ForgetIf(gone func(k cluster.ObjectRef) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.by, func(k cluster.ObjectRef, _ []record) bool { return gone(k) })
}

// Len returns the number of objects that something was counted for.
func (f *Contention) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.by)
}
