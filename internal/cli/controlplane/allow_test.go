// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/apply"
)

// inCluster returns a deployment with --in-cluster that uses a ClusterProviderConfig.
func inCluster(t testing.TB, k client.Client, namespace, config string) *deployment {
	t.Helper()
	d := deploymentFor(t, k, namespace, "")
	d.o.inCluster, d.ref = true, reference{kind: v1alpha1.ClusterProviderConfigKind, name: config}
	return d
}

// administer applies the namespaces of a ClusterProviderConfig as an administrator does from Git. If names is nil, it does nothing.
func administer(t testing.TB, config apply.Object, names []any) {
	t.Helper()
	if names == nil {
		return
	}
	u := apply.Wanted(config, map[string]any{"spec": map[string]any{
		"credentials":       map[string]any{"source": string(v1alpha1.CredentialsSourceInjectedIdentity)},
		"allowedNamespaces": map[string]any{"names": names},
	}})
	if err := plane.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("administrator")); err != nil {
		t.Fatal(err)
	}
}

// TestAllowNamespaces checks that deploy --in-cluster grants only its own namespace, and loses no other one.
func TestAllowNamespaces(t *testing.T) {
	defined(t)
	cases := map[string]struct {
		reason string
		// before and after are the namespaces that an administrator applies before and after the deployments; nil to apply nothing.
		before, after []any
		// deploys lists the namespaces that are deployed one after the other. While the first one applies its namespace, the
		// namespace during is deployed.
		deploys []string
		during  string
		want    []string
	}{
		"New":    {reason: "The first deployment creates the config.", deploys: []string{"a"}, want: []string{"a"}},
		"Others": {reason: "Namespaces of others stay.", before: []any{"x"}, deploys: []string{"a", "b", "a"}, want: []string{"a", "b", "x"}},
		"Revoked": {
			reason: "A namespace that its owner revokes is not allowed anymore.",
			before: []any{"x", "y"}, deploys: []string{"a", "b"}, after: []any{"x"}, want: []string{"a", "b", "x"},
		},
		"Concurrent": {
			reason: "A namespace that is added at the same time stays.",
			before: []any{"x"}, deploys: []string{"a"}, during: "b", want: []string{"a", "b", "x"},
		},
		"Created": {reason: "A config that is created at the same time keeps its namespace.", deploys: []string{"a"}, during: "b", want: []string{"a", "b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config := reference{kind: v1alpha1.ClusterProviderConfigKind, name: "allow-" + strings.ToLower(name)}
			o := config.object("")
			during := tc.during
			k := interceptor.NewClient(watching(t), interceptor.Funcs{
				Apply: func(ctx context.Context, k client.WithWatch, u runtimeApply, options ...client.ApplyOption) error {
					if during != "" {
						other := inCluster(t, plane, during, config.name)
						during = ""
						if err := other.configure(ctx); err != nil {
							t.Error(err)
						}
					}
					return k.Apply(ctx, u, options...)
				},
			})
			administer(t, o, tc.before)
			for _, namespace := range tc.deploys {
				if err := inCluster(t, k, namespace, config.name).configure(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			administer(t, o, tc.after)
			got, _, _ := unstructured.NestedStringSlice(mustGet(t, o).Object, "spec", "allowedNamespaces", "names")
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nallowed namespaces: -want, +got:\n%s", tc.reason, diff)
			}
			if err := plane.Delete(t.Context(), mustGet(t, o)); err != nil {
				t.Fatal(err)
			}
		})
	}
}
