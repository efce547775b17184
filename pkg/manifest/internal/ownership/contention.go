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
)

const (
	// MaxRepairs is how often the engine repairs a field within Window if the same manager changes it every time. After that, it
	// cedes the field.
	MaxRepairs = 5
	// Window is the period in which repairs are counted.
	Window = 10 * time.Minute
	// maxRecords limits the number of records for one object.
	maxRecords = 32
)

// Contention counts how often fields of the objects of a bundle were repaired. The zero value is ready for use. It is safe for
// concurrent use. If it is lost, counting starts again.
type Contention struct {
	mu sync.Mutex
	by map[cluster.ObjectRef]*counts
}

// counts are the repairs of one object.
type counts struct {
	fields []record
	// restores counts the repairs of the labels of the object. It may be nil.
	restores *Restores
}

// A record counts the repairs of a field that one manager changes.
type record struct {
	path    string
	manager string
	repairs int
	since   time.Time
}

// Repaired counts a repair of the lost fields of an object by a manager, the engine's. Pass the managedFields before the repair,
// and the Restores in the inventory. Repaired returns the Restores to store. They change only after many repairs of labels, because
// the first ones are not worth a save.
func (f *Contention) Repaired(
	manager string, k cluster.ObjectRef, before []metav1.ManagedFieldsEntry, lost *fieldpath.Set, was *Restores, now time.Time,
) *Restores {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.of(k)
	holders := holdersOf(manager, before)
	paths := fieldset.All(lost)
	labels := false
	for _, p := range paths[:min(len(paths), maxRecords)] {
		if IsIdentity(p) {
			labels = true
			continue
		}
		c.fields = count(c.fields, fieldset.Encode(p), holders.of(p), now)
	}
	if !labels {
		return was
	}
	// Labels that are lost at the same time count as one repair.
	if c.restores == nil || (was != nil && was.Last > c.restores.Last) {
		c.restores = was
	}
	if c.restores = c.restores.Add(now); c.restores.isMany() {
		return c.restores
	}
	return was
}

// of returns the counts of an object.
func (f *Contention) of(k cluster.ObjectRef) *counts {
	if f.by == nil {
		f.by = map[cluster.ObjectRef]*counts{}
	}
	if f.by[k] == nil {
		f.by[k] = &counts{}
	}
	return f.by[k]
}

// count returns the records with one more repair.
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
		return records
	}
	if len(records) >= maxRecords {
		records = records[1:]
	}
	return append(records, record{path: path, manager: manager, repairs: 1, since: now})
}

// Ceded returns the fields of an object that were repaired so often that they are now ceded.
func (f *Contention) Ceded(k cluster.ObjectRef, now time.Time) []Ceded {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.by[k]
	if c == nil {
		return nil
	}
	var out []Ceded
	for _, b := range c.fields {
		if b.repairs >= MaxRepairs && now.Sub(b.since) < Window {
			out = append(out, Ceded{Path: b.path, Manager: b.manager, Since: now.Unix()})
		}
	}
	return out
}

// Forget removes the counts of an object.
func (f *Contention) Forget(k cluster.ObjectRef) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.by, k)
}

// ForgetIf removes the counts of the objects for which a function returns true.
func (f *Contention) ForgetIf(gone func(k cluster.ObjectRef) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.by, func(k cluster.ObjectRef, _ *counts) bool { return gone(k) })
}

// Len returns the number of objects with counts.
func (f *Contention) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.by)
}
