// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestListing checks that nothing is said and nothing is changed while objects are unknown because their kind is being listed.
func TestListing(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.reconcile(s)
	b.restart()
	before := b.s.keys()
	for _, kind := range []string{"ConfigMap", "Deployment"} {
		b.c.listing = map[string]bool{kind: true}
		for verb, err := range b.verbsOf(s) {
			if e := (*cluster.ListingError)(nil); !errors.As(err, &e) {
				t.Errorf("%s(...): want a ListingError while %s is being listed, got %v", verb, kind, err)
			}
		}
	}
	if diff := cmp.Diff(before, b.s.keys()); diff != "" {
		t.Errorf("the cluster: -want, +got:\n%s", diff)
	}
	b.c.listing = nil
	if o := b.observe(s); !o.UpToDate || o.State != Ready {
		t.Errorf("Observe(...): want all that is installed after the lists, got %+v", o)
	}
}

// TestListingInventories checks that an inventory is read with a request while Secrets are being listed, so that a first install does
// not wait for that, and nothing counts as not installed.
func TestListingInventories(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...))
	b.c.listing = map[string]bool{"Secret": true}
	if o := b.observe(s); o.Exists {
		t.Errorf("Observe(...): want nothing installed, got %+v", o)
	}
	b.reconcile(s)
	b.restart()
	b.c.listing = map[string]bool{"Secret": true}
	if o := b.observe(s); !o.Exists || !o.UpToDate || o.State != Ready {
		t.Errorf("Observe(...): want all that is installed, got %+v", o)
	}
}

// TestPrepare checks that the kinds of a bundle are being listed while its objects are applied, as far as the cluster serves them.
func TestPrepare(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", webTemplates...), install("custom", "crds/"+tmplCRD, configMap("x"), fmt.Sprintf(tmplWidget, "w")))
	b.s.unready = true
	b.apply(s)
	want := []string{"ClusterRole", "ConfigMap", "Deployment", "Service", "ServiceAccount"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(b.c.prepared))); diff != "" {
		t.Errorf("before the CRD is established: -want, +got:\n%s", diff)
	}
	b.s.unready = false
	b.s.edit(cluster.ObjectRef{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets.example.org"}, setReadyStatus)
	b.apply(s)
	if !b.c.prepared["Widget"] {
		t.Error("want kind Widget to be listed once its CRD is established")
	}
}
