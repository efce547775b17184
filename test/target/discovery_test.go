// SPDX-License-Identifier: Apache-2.0

package target

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/discovery"
)

// TestAPIVersionsOfClient checks that the API versions of a real API server are those of client-go: different ones would upgrade charts
// that read them.
func TestAPIVersionsOfClient(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	groups, lists, err := client.ServerGroupsAndResourcesWithContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, g := range groups {
		for _, v := range g.Versions {
			want = append(want, v.GroupVersion)
		}
	}
	for _, l := range lists {
		for _, r := range l.APIResources {
			want = append(want, l.GroupVersion+"/"+r.Kind)
		}
	}
	slices.Sort(want)
	c := connect(t, server.Config())
	got, err := c.APIVersions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("APIVersions(): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"GET 200", "GET 200"}, c.asked()); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
}
