// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// RestoreInterval is the minimum time between two restorations of an object that is deleted repeatedly. Such an object does not
// have a field that the engine could cede.
const RestoreInterval = time.Minute

// Restores counts how often an object was restored within Window because another client deleted it or removed its identifying
// labels. The value is replaced, never changed. The JSON is part of the inventory, so that every process observes and reports the
// pause.
type Restores struct {
	Count int `json:"n"`
	// Since is the time of the first restoration and Last the time of the last one, in Unix seconds.
	Since int64 `json:"s"`
	Last  int64 `json:"l"`
}

// Add returns the count after one more restoration. The receiver may be nil.
func (r *Restores) Add(now time.Time) *Restores {
	at := now.Unix()
	if r == nil || isPast(at-r.Since, Window) {
		return &Restores{Count: 1, Since: at, Last: at}
	}
	return &Restores{Count: r.Count + 1, Since: r.Since, Last: at}
}

// Pause reports whether the object was restored so often that the next restoration must wait. The receiver may be nil.
func (r *Restores) Pause(now time.Time) bool {
	at := now.Unix()
	return r.isMany() && !isPast(at-r.Since, Window) && !isPast(at-r.Last, RestoreInterval)
}

func (r *Restores) isMany() bool { return r != nil && r.Count >= MaxRepairs }

// isPast reports whether the elapsed seconds reach a duration. A negative number, which results from a clock that was ahead,
// counts as elapsed.
func isPast(seconds int64, d time.Duration) bool {
	return seconds < 0 || seconds >= int64(d/time.Second)
}

// IsIdentity reports whether a field is a label by which the engine recognizes its objects. Such a field is never ceded.
func IsIdentity(p fieldpath.Path) bool {
	return len(p) == 3 && (fieldset.Below(p, "metadata", "labels", object.LabelPartOf) || fieldset.Below(p, "metadata", "labels", object.LabelManagedBy))
}
