// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	discoveryv2 "k8s.io/api/apidiscovery/v2"
)

// resources returns the resources of a server by their version, without subresources.
func resources(t *testing.T, s side) map[string]discoveryv2.APIResourceDiscovery {
	t.Helper()
	out := map[string]discoveryv2.APIResourceDiscovery{}
	for _, path := range []string{"/api", "/apis"} {
		c := get(path).accepting("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		_, raw, err := s.send(t.Context(), newNormalizer(""), c)
		if err != nil {
			t.Fatal(err)
		}
		l := &discoveryv2.APIGroupDiscoveryList{}
		if err := json.Unmarshal([]byte(raw), l); err != nil {
			t.Fatal(err)
		}
		for _, g := range l.Items {
			for _, v := range g.Versions {
				for _, r := range v.Resources {
					r.Subresources = nil
					out[g.Name+"/"+v.Version+"/"+r.Resource] = r
				}
			}
		}
	}
	return out
}

// TestResources checks that the resources of the simulated server are like those of the real one, which has more.
func TestResources(t *testing.T) {
	want, got := resources(t, actual), resources(t, simulated)
	if len(got) == 0 {
		t.Fatal("the simulated server has no resources")
	}
	for name, r := range got {
		if diff := cmp.Diff(want[name], r); diff != "" {
			t.Errorf("%s: -real, +simulated:\n%s", name, diff)
		}
	}
}
