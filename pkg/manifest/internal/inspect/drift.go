// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/apply"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

const (
	// ReportAge is how long a report stays valid if no watch reports changes to the object.
	ReportAge = 10 * time.Minute
	// RetryAge is the delay after a failed comparison before it is retried.
	RetryAge = time.Minute
)

// A Repairer renders the objects of a bundle and performs dry runs of their repair.
type Repairer interface {
	// AppliedObject returns the object of an entry as it was applied, or nil if the bundle no longer contains it in that form.
	AppliedObject(ctx context.Context, en *inventory.Entry) (*object.Desired, error)
	// TryRepair performs a dry run of the repair of an existing object and returns the outcome.
	TryRepair(
		ctx context.Context, o *object.Desired, en *inventory.Entry, m *metav1.PartialObjectMetadata,
	) (apply.Outcome, error)
	// OwnerOf returns the owner of the ApplySet with an ID, or an empty string if it is unknown.
	OwnerOf(ctx context.Context, id string) string
}

// Reports caches the differences of drifted objects that the engine does not repair.
type Reports map[cluster.ObjectRef]report

// A report is the cached difference of one object. It is valid while the UID, the owned fields and the intent of the object are
// unchanged, and no later than until, if that is not zero.
type report struct {
	uid, owned, intent, set string

	difference observe.Difference
	until      time.Time
}

// holds reports whether the report is valid for the current state of the object.
func (r *report) holds(en *inventory.Entry, s cluster.ObjectState, now time.Time) bool {
	return r.uid == s.UID && r.owned == s.Owned && r.intent == en.Intent && r.set == s.Set && (r.until.IsZero() || now.Before(r.until))
}

// A DriftComparer compares drifted objects with their applied state. It sends one dry run for each drift. It is not safe for
// concurrent use.
type DriftComparer struct {
	// Set is the ID of the ApplySet.
	Set     string
	Objects Reader
	Bundle  Repairer
	Now     time.Time
	// Reports is the cache of the results. It must not be nil.
	Reports Reports
}

// Compare compares a drifted object with its applied state. Ceded fields do not count as differences. It returns an error if it
// cannot read the object, or if the context is done.
func (c *DriftComparer) Compare(ctx context.Context, en *inventory.Entry, d observe.Drift, s cluster.ObjectState) (observe.Difference, error) {
	k := en.Ref()
	if r, ok := c.Reports[k]; ok && r.holds(en, s, c.Now) {
		return r.difference, nil
	}
	if d.Kind == observe.DriftTakenOver {
		d.Owner = c.Bundle.OwnerOf(ctx, s.Set)
		r := report{uid: s.UID, owned: s.Owned, intent: en.Intent, set: s.Set, until: c.Now.Add(ReportAge)}
		r.difference = observe.Difference{Drift: d, Differs: true}
		c.Reports[k] = r
		return r.difference, nil
	}
	m, err := c.Objects.Metadata(ctx, en.GVK(), k)
	if err != nil {
		return observe.Difference{}, err
	}
	r := report{uid: s.UID, owned: s.Owned, intent: en.Intent, set: s.Set}
	if d.Kind == observe.DriftDeleted {
		r.until = c.Now.Add(ReportAge)
	}
	switch {
	case m == nil:
		r.difference = observe.Difference{Drift: observe.Drift{Key: k, Kind: observe.DriftDeleted}, Differs: true}
	case string(m.UID) != en.UID:
		kind := observe.DriftReplaced
		if m.Labels[object.LabelPartOf] != c.Set {
			kind = observe.DriftForeign
		}
		r.difference = observe.Difference{Drift: observe.Drift{Key: k, Kind: kind}, Differs: true}
	default:
		if err := c.reportFields(ctx, &r, en, m); err != nil {
			return observe.Difference{}, err
		}
	}
	c.Reports[k] = r
	return r.difference, nil
}

// reportFields adds the differing fields of an object to a report, and sets how long the report is valid. It returns an error
// only if the context is done.
func (c *DriftComparer) reportFields(ctx context.Context, r *report, en *inventory.Entry, m *metav1.PartialObjectMetadata) error {
	var names bool
	var err error
	r.difference, names, err = c.compareFields(ctx, en, m)
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil && !ssa.IsRefused(err):
		r.difference.Failed, r.until = true, c.Now.Add(RetryAge)
	case !names:
		r.until = c.Now.Add(ReportAge)
	}
	return nil
}

// compareFields returns the fields that the engine would own again if it applied the object. If the applied object is unavailable
// or a request fails, names is false and the result differs without naming fields.
func (c *DriftComparer) compareFields(
	ctx context.Context, en *inventory.Entry, m *metav1.PartialObjectMetadata,
) (out observe.Difference, names bool, err error) {
	out = observe.Difference{Drift: observe.Drift{Key: en.Ref()}, Differs: true}
	o, err := c.Bundle.AppliedObject(ctx, en)
	if err != nil || o == nil {
		return out, false, err
	}
	repair, err := c.Bundle.TryRepair(ctx, o, en, m)
	if err != nil {
		return out, false, err
	}
	out.Drift.Fields = ownership.Names(repair.Lost)
	out.Differs = ownership.IsDrift(!repair.Lost.Empty(), len(repair.Ceded))
	return out, true, nil
}
