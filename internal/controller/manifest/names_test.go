// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// TestExternalNames checks that a Manifest does not connect to its cluster if it is not allowed to use the name of its
// inventory, and that its removal then only touches an inventory that it owns.
func TestExternalNames(t *testing.T) {
	calls := func(name string) func(*v1alpha1.Manifest) {
		return func(m *v1alpha1.Manifest) { meta.SetExternalName(m, name) }
	}
	type want struct {
		// Bundle and Required are the name and OwnerRequired of the bundle. They are empty if the name is refused.
		Bundle   string
		Required bool
		Synced   string
		Stalled  bool
	}
	refused := want{Synced: `annotation crossplane.io/external-name: invalid value "m.web": must begin with "n."; correct it, or start the provider with ` +
		"--allow-external-names", Stalled: true}
	cases := map[string]struct {
		reason  string
		mr      *v1alpha1.Manifest
		allowed naming.Allowed
		want    want
	}{
		"Default": {reason: "The default is allowed.", mr: named("n", "web", uses("there")), want: want{Bundle: "n.web"}},
		"Own":     {reason: "Another name with the prefix of the namespace is allowed.", mr: named("n", "web", uses("there"), calls("n.old")), want: want{Bundle: "n.old"}},
		"Foreign": {reason: "The name of another namespace is refused.", mr: named("n", "web", uses("there"), calls("m.web")), want: refused},
		"Allowed": {
			reason: "A flag allows the name, if the inventory has this owner.", mr: named("n", "web", uses("there"), calls("m.web")),
			allowed: naming.Allowed{"n/m.*"}, want: want{Bundle: "m.web", Required: true},
		},
		"Removal": {
			reason: "A module whose name is no longer allowed can be removed by its owner.",
			mr:     named("n", "web", uses("there"), calls("m.web"), deleted), want: want{Bundle: "m.web", Required: true},
		},
		"RemovalInvalid": {
			reason: "A Manifest with an invalid spec can be removed by its owner.",
			mr: named("n", "web", uses("there"), calls("m.web"), deleted, func(m *v1alpha1.Manifest) {
				m.Spec.ForProvider.Installs = []v1alpha1.Install{{Name: "a"}}
			}), want: want{Bundle: "m.web", Required: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "there"}}
			c := &connector{
				client:   fake.NewClientBuilder().WithScheme(schemeOf(t)).WithObjects(pc).Build(),
				usage:    tracker(func() error { return nil }),
				clusters: &mockClusters{get: func() (cluster.Cluster, error) { return &aCluster{name: "fresh"}, nil }},
				engine:   &mockEngine{}, record: &recorded{}, requeuer: requeue.New(t.Context().Done()), memory: &checkpoint.Memory{}, names: tc.allowed,
			}
			got := want{}
			e, err := c.Connect(t.Context(), tc.mr)
			if e, ok := e.(*external); ok {
				got.Bundle, got.Required = e.choice.bundle.Name, e.choice.bundle.OwnerRequired
			}
			if err != nil {
				got.Synced, got.Stalled = err.Error(), tc.mr.GetCondition(v1alpha1.TypeStalled).Status == "True"
				if r := tc.mr.GetCondition(xpv2.TypeReady); r.Message != got.Synced {
					t.Errorf("\n%s\nthe message of Ready is %q", tc.reason, r.Message)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nConnect(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
