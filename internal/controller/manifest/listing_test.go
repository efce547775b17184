// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestListingIsQuiet checks that a pass over a Manifest with kinds that are being listed writes nothing and records no event, whatever
// the pass is for, and that the end of the lists queues the Manifest.
func TestListingIsQuiet(t *testing.T) {
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
	}{
		"Install": {reason: "It is not known what is installed.", mr: named("n", "m")},
		"Plan":    {reason: "It is not known what a plan would change.", mr: named("n", "m", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Mode = v1alpha1.ModePlan })},
		"Removal": {reason: "It is not known what is left to remove. Nothing counts as removed.", mr: named("n", "m", deleted)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			listed := func() {}
			listing := &cluster.ListingError{Kinds: []string{"Secret"}, Notify: func(f func()) { listed = f }}
			r, queued := &recorded{}, []time.Duration(nil)
			e := externalOf(&mockEngine{observe: func() (engine.Observation, error) {
				return engine.Observation{}, errors.Wrap(listing, "cannot observe")
			}}, &engine.Bundle{Name: "x"}, r)
			e.after = func(d time.Duration) { queued = append(queued, d) }
			before := tc.mr.DeepCopy()
			_, err := e.Observe(t.Context(), tc.mr)
			if !kerrors.IsConflict(err) || !errors.Is(err, listing) {
				t.Errorf("\n%s\nObserve(...): want a quiet error, got %v", tc.reason, err)
			}
			if diff := cmp.Diff(before, tc.mr); diff != "" {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(r.events) > 0 || len(queued) > 0 {
				t.Errorf("\n%s\nObserve(...): want no event and no pass yet, got %v, %v", tc.reason, r.events, queued)
			}
			listed()
			if diff := cmp.Diff([]time.Duration{0}, queued); diff != "" {
				t.Errorf("\n%s\nafter the lists: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestListingAfterUpdate checks that an update of a bundle with a new kind is reported as what was known before, until the kind is
// listed.
func TestListingAfterUpdate(t *testing.T) {
	queued := 0
	listing := &cluster.ListingError{Kinds: []string{"Widget"}, Notify: func(f func()) { f() }}
	calls := 0
	e := externalOf(&mockEngine{
		observe: func() (engine.Observation, error) {
			if calls++; calls > 1 {
				return engine.Observation{}, listing
			}
			return engine.Observation{Exists: true, State: engine.Processing, Message: "is being applied"}, nil
		},
		apply: func() (engine.Result, error) { return engine.Result{Created: 1}, nil },
	}, &engine.Bundle{Name: "x"}, &recorded{})
	e.after = func(time.Duration) { queued++ }
	mr := named("n", "m")
	if _, err := e.Observe(t.Context(), mr); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), mr); err != nil {
		t.Errorf("Update(...): want no error, got %v", err)
	}
	if at := mr.Status.AtProvider; at.State != v1alpha1.StateProcessing || at.Message != "is being applied" {
		t.Errorf("Update(...): want the state from before, got %s: %s", at.State, at.Message)
	}
	if queued != 1 {
		t.Errorf("Update(...): want 1 pass after the list, got %d", queued)
	}
}

// TestMisplaced checks that the connection learns whether the Manifest belongs to its cluster, from responses only.
func TestMisplaced(t *testing.T) {
	wrong := &engine.WrongClusterError{Expected: "a", Found: "b"}
	for _, mr := range []*v1alpha1.Manifest{
		named("n", "m"), named("n", "m", deleted), named("n", "m", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Mode = v1alpha1.ModePlan }),
	} {
		var err error
		var got []bool
		e := externalOf(&mockEngine{
			observe: func() (engine.Observation, error) { return engine.Observation{Exists: true}, err },
			plan:    func() (engine.Plan, error) { return engine.Plan{}, nil },
		}, &engine.Bundle{Name: "x"}, &recorded{})
		e.misplaced = func(yes bool) { got = append(got, yes) }
		for _, err = range []error{nil, wrong, errors.New("timed out"), nil} {
			_, _ = e.Observe(t.Context(), mr.DeepCopy())
		}
		if diff := cmp.Diff([]bool{false, true, false}, got); diff != "" {
			t.Errorf("Observe(...): -want, +got:\n%s", diff)
		}
	}
}
