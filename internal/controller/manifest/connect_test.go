// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/config"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/naming"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/requeue"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// aCluster is a cluster that is identified by its name.
type aCluster struct {
	cluster.Cluster

	name string
}

// Identity returns the name.
func (c *aCluster) Identity() string { return c.name }

// mockClusters returns fixed results.
type mockClusters struct {
	get  func() (cluster.Cluster, error)
	last func() (cluster.Cluster, bool)
	// misplaced contains the consumers that are in the wrong cluster.
	misplaced map[string]bool
}

func (m *mockClusters) Get(context.Context, string, *config.Config) (cluster.Cluster, error) {
	return m.get()
}
func (m *mockClusters) Last(string) (cluster.Cluster, bool) { return m.last() }
func (m *mockClusters) Forget(string)                       {}
func (m *mockClusters) Misplaced(consumer string, yes bool) {
	if m.misplaced != nil {
		m.misplaced[consumer] = yes
	}
}

func TestConnect(t *testing.T) {
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "there"}}
	own := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "own"}}
	own.Spec.Credentials.Source = v1alpha1.CredentialsSourceInjectedIdentity
	ofProvider := func(m *v1alpha1.Manifest) {
		m.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: v1alpha1.ClusterProviderConfigKind, Name: "own"}
	}
	adopting := func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Adoption = v1alpha1.AdoptionPolicyAdopt }
	installed := func(m *v1alpha1.Manifest) { meta.SetExternalName(m, "n.m") }
	invalid := func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Installs = []v1alpha1.Install{{Name: "a"}} }
	fresh, last := &aCluster{name: "fresh"}, &aCluster{name: "last"}

	type want struct {
		cluster string
		nothing bool
		adopts  bool
		err     string
	}
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		get    error
		last   bool
		want   want
	}{
		"Connected":     {reason: "The cluster is that of the config.", mr: named("n", "m", uses("there")), want: want{cluster: "fresh"}},
		"NoConfig":      {reason: "A config that is missing is named.", mr: named("n", "m", uses("none")), want: want{err: "ProviderConfig n/none does not exist"}},
		"NoCredentials": {reason: "A ProviderConfig without credentials is an error.", mr: named("n", "m", uses("there")), get: errors.New("no key"), want: want{err: "ProviderConfig there: no key"}},
		"Invalid":       {reason: "An invalid spec is rejected.", mr: named("n", "m", uses("there"), invalid), want: want{err: `spec.forProvider.installs["a"]`}},
		"DeletedInvalid": {
			reason: "A Manifest with an invalid spec can be removed.",
			mr:     named("n", "m", uses("there"), invalid, installed, deleted), want: want{cluster: "fresh"},
		},
		"DeletedWithoutConfig": {
			reason: "If the ProviderConfig was deleted first, the existing connection is used.",
			mr:     named("n", "m", uses("none"), installed, deleted), last: true, want: want{cluster: "last"},
		},
		"DeletedWithoutCredentials": {
			reason: "If the credentials were deleted first, the existing connection is used.",
			mr:     named("n", "m", uses("there"), installed, deleted), get: errors.New("no key"), last: true, want: want{cluster: "last"},
		},
		"DeletedButInstalled": {
			reason: "An installed module is not abandoned, even if its cluster is unknown.",
			mr:     named("n", "m", uses("none"), installed, deleted), want: want{err: "ProviderConfig n/none does not exist"},
		},
		"DeletedNeverInstalled": {
			reason: "A module that was never installed does not need to be removed.",
			mr:     named("n", "m", uses("none"), deleted), want: want{nothing: true},
		},
		"NotAllowed": {
			reason: "A tenant must not install with the credentials of the provider unless the config names its namespace.",
			mr:     named("n", "m", ofProvider), want: want{err: `ClusterProviderConfig own cannot be used in namespace "n"`},
		},
		"DeletedNotAllowed": {
			reason: "A namespace that is no longer allowed can remove what it installed, but cannot adopt anything.",
			mr:     named("n", "m", ofProvider, adopting, installed, deleted), want: want{cluster: "fresh"},
		},
		"DeletedNeverAllowed": {
			reason: "A namespace that was never allowed cannot connect, even to remove a module.",
			mr:     named("n", "m", ofProvider, adopting, deleted), want: want{nothing: true},
		},
		"DeletedAdopting": {
			reason: "In an allowed namespace, the removal follows the spec of the Manifest.",
			mr:     named("n", "m", uses("there"), adopting, installed, deleted), want: want{cluster: "fresh", adopts: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &connector{
				client: fake.NewClientBuilder().WithScheme(schemeOf(t)).WithObjects(pc.DeepCopy(), own.DeepCopy()).Build(),
				usage: tracker(func() error {
					if meta.WasDeleted(tc.mr) {
						return errors.New("no usage can be made in a namespace that is going away")
					}
					return nil
				}),
				clusters: &mockClusters{
					get:  func() (cluster.Cluster, error) { return fresh, tc.get },
					last: func() (cluster.Cluster, bool) { return last, tc.last },
				},
				engine: &mockEngine{}, record: &recorded{}, requeuer: requeue.New(t.Context().Done()), memory: &checkpoint.Memory{},
				origin: naming.Origin{ControlPlane: []string{"here"}, Predecessors: []string{"before"}},
			}
			got, before := want{}, tc.mr.DeepCopy()
			e, err := c.Connect(t.Context(), tc.mr)
			if diff := cmp.Diff(before, tc.mr); diff != "" && err == nil {
				t.Errorf("\n%s\nConnect(...) reports although Observe follows: -want, +got:\n%s", tc.reason, diff)
			}
			switch e := e.(type) {
			case *external:
				predecessors := []string{"before"}
				if meta.WasDeleted(tc.mr) {
					predecessors = nil // A removal takes over nothing.
				}
				if b := e.choice.bundle; !slices.Equal(b.ControlPlane, []string{"here"}) || !slices.Equal(b.Predecessors, predecessors) {
					t.Errorf("\n%s\nthe control plane of the bundle is %q, before %q", tc.reason, b.ControlPlane, b.Predecessors)
				}
				got.cluster, got.adopts = e.cluster.(interface{ Unwrap() cluster.Cluster }).Unwrap().(*aCluster).name, e.choice.bundle.Adopt
			case nothing:
				o, err := e.Observe(t.Context(), tc.mr)
				got.nothing = err == nil && !o.ResourceExists
			}
			if err != nil {
				got.err = err.Error()
			}
			if tc.want.err != "" && strings.Contains(got.err, tc.want.err) {
				got.err = tc.want.err
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nConnect(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
