// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestNotify checks that a change in a cluster only queues the Manifests of that cluster, even if another cluster has a bundle
// with the same ID.
func TestNotify(t *testing.T) {
	c := &changes{}
	c.notify("a", "id", cluster.ObjectRef{}, nil, nil) // Before the controller starts, changes are dropped.
	r := requeue.New(t.Context().Done())
	c.to.Store(r)
	r.Add("id", "a", types.NamespacedName{Namespace: "team-a", Name: "web"})
	r.Add("id", "b", types.NamespacedName{Namespace: "team-b", Name: "web"})
	c.notify("a", "id", cluster.ObjectRef{}, nil, nil)
	close(r.Events())
	var got []string
	for e := range r.Events() {
		got = append(got, e.Object.GetNamespace()+"/"+e.Object.GetName())
	}
	if diff := cmp.Diff([]string{"team-a/web"}, got); diff != "" {
		t.Errorf("notify(...): -want, +got:\n%s", diff)
	}
}
