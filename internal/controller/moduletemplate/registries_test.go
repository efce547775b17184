// SPDX-License-Identifier: Apache-2.0

package moduletemplate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
)

func TestRegistries(t *testing.T) {
	b := newBench(t)
	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "registries"}}
	pc.Spec.Registries = []v1alpha1.Registry{{Host: "reg.example.org", PlainHTTP: true}}
	if err := b.client.Create(t.Context(), pc); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		name   string
		want   oci.Registries
		err    string
	}{
		"None":    {reason: "Without a config, all registries are allowed."},
		"Config":  {reason: "The registries are those of a ClusterProviderConfig.", name: "registries", want: oci.Registries{{Host: "reg.example.org", PlainHTTP: true}}},
		"Missing": {reason: "The error names a config that does not exist.", name: "nope", err: "ClusterProviderConfig nope does not exist: create it, or correct the provider flag --module-registry-config"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := (&registries{client: b.client, name: tc.name}).load(t.Context())
			if tc.err != "" {
				if err == nil || err.Error() != tc.err {
					t.Errorf("\n%s\nget(...): want error %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("\n%s\nget(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
