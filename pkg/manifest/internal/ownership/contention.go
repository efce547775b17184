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
	// MaxRepairs is how often the engine repairs one field within Window where the same manager takes it each time. Then it
	// cedes the field.
	MaxRepairs = 5
	// Window is the time in which repairs are counted.
	Window = 10 * time.Minute
	// maxRecords bounds what is counted for one object.
	maxRecords = 32
)

// Contention counts how often fields of the objects of a bundle were repaired. The zero value has counted nothing. It is safe for
// concurrent use, and may be lost: counting then starts again.
type Contention struct {
	mu sync.Mutex
	by map[cluster.ObjectRef]*counts
}

// counts are what was counted for one object.
type counts struct {
	fields []record
	// restores count the repairs of the labels of the object; nil for none.
	restores *Restores
}

// A record counts the repairs of one field that one manager takes.
type record struct {
	path    string
	manager string
	repairs int
	since   time.Time
}

// Repaired counts a repair that a manager, that of the engine, made of fields of an object. Before are its managedFields before the
// repair, and was is what the inventory has counted of the object. Repaired returns what it is to have: nothing else of it changes where
// labels are repaired, so that the first repairs are not worth a save.
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
	// Several labels that are lost at once are one repair.
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
		return records
	}
	if len(records) >= maxRecords {
		records = records[1:]
	}
	return append(records, record{path: path, manager: manager, repairs: 1, since: now})
}

// Ceded returns the fields of an object that were repaired so often that they are ceded now.
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
	maps.DeleteFunc(f.by, func(k cluster.ObjectRef, _ *counts) bool { return gone(k) })
}

// Len returns the number of objects that something was counted for.
func (f *Contention) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.by)
}
