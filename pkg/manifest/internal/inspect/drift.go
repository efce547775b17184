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
	// ReportAge is how long a report is valid if no watch reports changes of the object.
	ReportAge = 10 * time.Minute
	// RetryAge is how long after a failed comparison the next one is made.
	RetryAge = time.Minute
)

// A Repairer renders the objects of a bundle, and tries to repair them.
type Repairer interface {
	// AppliedObject returns the object of an entry as it was applied, or nil if the bundle no longer contains it in that form.
	AppliedObject(ctx context.Context, en *inventory.Entry) (*object.Desired, error)
	// TryRepair returns the outcome of a repair of an object that exists, according to a dry run.
	TryRepair(
		ctx context.Context, o *object.Desired, en *inventory.Entry, m *metav1.PartialObjectMetadata,
	) (apply.Outcome, error)
}

// Reports caches the differences of objects that are not repaired.
type Reports map[cluster.ObjectRef]report

// A report is valid while the UID, the owned fields and the intent of the object stay the same, and not after until, unless that is
// zero.
type report struct {
	uid, owned, intent string

	difference observe.Difference
	until      time.Time
}

// holds reports whether the report is still valid.
func (r *report) holds(en *inventory.Entry, s cluster.ObjectState, now time.Time) bool {
	return r.uid == s.UID && r.owned == s.Owned && r.intent == en.Intent && (r.until.IsZero() || now.Before(r.until))
}

// A DriftComparer compares drifted objects with what was applied. It sends one dry run for each drift. It is not safe for concurrent
// use.
type DriftComparer struct {
	// Set is the ID of the ApplySet.
	Set     string
	Objects Reader
	Bundle  Repairer
	Now     time.Time
	// Reports must not be nil.
	Reports Reports
}

// Compare compares a drifted object with what was applied. Ceded fields do not count as differences. It returns an error if it
// cannot read the object, or if the context has ended.
func (c *DriftComparer) Compare(ctx context.Context, en *inventory.Entry, d observe.Drift, s cluster.ObjectState) (observe.Difference, error) {
	k := en.Ref()
	if r, ok := c.Reports[k]; ok && r.holds(en, s, c.Now) {
		return r.difference, nil
	}
	m, err := c.Objects.Metadata(ctx, en.GVK(), k)
	if err != nil {
		return observe.Difference{}, err
	}
	r := report{uid: s.UID, owned: s.Owned, intent: en.Intent}
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

// reportFields adds to a report which fields of an object differ, and how long this is valid. It returns an error if the context
// has ended.
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

// compareFields returns the fields that applying the object would regain. Without the applied object, or with an error, names is
// false, and the result differs without naming fields.
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
