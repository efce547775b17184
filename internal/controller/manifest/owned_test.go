// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestInventoryOfOther holds that a Manifest which names the inventory of another one goes without it, and says so; and that
// it is an error of one that stays.
func TestInventoryOfOther(t *testing.T) {
	owned := errors.Wrap(&engine.OwnedError{Inventory: cluster.ObjectRef{Kind: "Secret", Namespace: "kyma-system", Name: "n.m"}, Owner: "Manifest n/m"}, "wrapped")
	others := func(mr *v1alpha1.Manifest) { mr.Finalizers = []string{"ours", "theirs"} }
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		want   managed.ExternalObservation
		events []string
		err    bool
	}{
		"Deleted": {
			reason: "Nothing of the other one is touched.", mr: named("n", "copy", deleted), want: managed.ExternalObservation{ResourceUpToDate: true},
			events: []string{"LeftBehind: Nothing was removed: Secret kyma-system/n.m is the inventory of Manifest n/m"},
		},
		"Held":  {reason: "It is told once.", mr: named("n", "copy", deleted, others), want: managed.ExternalObservation{ResourceUpToDate: true}},
		"Stays": {reason: "It has nothing in the cluster.", mr: named("n", "copy"), err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			record := &recorded{}
			e := externalOf(&mockEngine{observe: func() (engine.Observation, error) { return engine.Observation{}, owned }}, &engine.Bundle{}, record)
			got, err := e.Observe(t.Context(), tc.mr)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.err {
				t.Errorf("%s\nObserve(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
			if diff := cmp.Diff(tc.events, record.events); diff != "" {
				t.Errorf("%s\nevents: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
