// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

const (
	// MaxRepairs is the number of repairs of a field within Window, against the same manager, after which the engine cedes the
	// field.
	MaxRepairs = 5
	// Window is the period in which repairs are counted.
	Window = 10 * time.Minute
	// maxRecords limits the number of records for one object.
	maxRecords = 32
)

// Repairs counts how often the fields of one object were repaired. The zero value has no repairs. The value is replaced, never
// changed: Add returns the next one. If the value is lost, counting starts again.
type Repairs struct {
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

// Add counts a repair of the lost fields of an object. Manager is the field manager of the engine, before holds the managedFields
// before the repair, and was is the Restores in the inventory. Add also returns the Restores to store. It differs from was only
// after many repairs of labels, because the first ones do not justify a save.
func (r Repairs) Add(
	manager string, before []metav1.ManagedFieldsEntry, lost *fieldpath.Set, was *Restores, now time.Time,
) (Repairs, *Restores) {
	r.fields = slices.Clone(r.fields)
	holders := holdersOf(manager, before)
	paths := fieldset.All(lost)
	labels := false
	for _, p := range paths[:min(len(paths), maxRecords)] {
		if IsIdentity(p) {
			labels = true
			continue
		}
		r.fields = count(r.fields, fieldset.Encode(p), holders.of(p), now)
	}
	if !labels {
		return r, was
	}
	// Labels that are lost at the same time count as one repair.
	if r.restores == nil || (was != nil && was.Last > r.restores.Last) {
		r.restores = was
	}
	if r.restores = r.restores.Add(now); r.restores.isMany() {
		return r, r.restores
	}
	return r, was
}

// count adds one repair to the records and returns them.
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

// Ceded returns the fields that were repaired so often that they are now ceded.
func (r Repairs) Ceded(now time.Time) []Ceded {
	var out []Ceded
	for _, b := range r.fields {
		if b.repairs >= MaxRepairs && now.Sub(b.since) < Window {
			out = append(out, Ceded{Path: b.path, Manager: b.manager, Since: now.Unix()})
		}
	}
	return out
}
