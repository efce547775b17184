// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestUser(t *testing.T) {
	account := func(namespace, name string) *v1alpha1.Impersonation {
		return &v1alpha1.Impersonation{ServiceAccount: v1alpha1.ServiceAccountReference{Namespace: namespace, Name: name}}
	}
	type want struct{ User, Err string }
	cases := map[string]struct {
		reason string
		kind   string
		rule   *v1alpha1.Impersonation
		own    *v1alpha1.Impersonation
		want   want
	}{
		"None":         {reason: "By default, no one is impersonated."},
		"Own":          {reason: "A Manifest may restrict itself.", own: account("apps", "installer"), want: want{User: "system:serviceaccount:apps:installer"}},
		"OwnNamespace": {reason: "The namespace is that of the Manifest.", own: account("", "installer"), want: want{User: "system:serviceaccount:team-a:installer"}},
		"Rule":         {reason: "The config restricts all, each team to its own account.", rule: account("", "installer"), want: want{User: "system:serviceaccount:team-a:installer"}},
		"Same":         {reason: "A Manifest may name the account that the config requires.", rule: account("", "installer"), own: account("team-a", "installer"), want: want{User: "system:serviceaccount:team-a:installer"}},
		"Weaker": {
			reason: "A Manifest cannot name another ServiceAccount.", rule: account("", "installer"), own: account("kube-system", "admin"),
			want: want{
				User: "system:serviceaccount:team-a:installer",
				Err:  "spec.forProvider.impersonate: ClusterProviderConfig c requires system:serviceaccount:team-a:installer in spec.impersonate; remove the field",
			},
		},
		"Tenant": {
			reason: "A ProviderConfig belongs to the tenant.", kind: v1alpha1.ProviderConfigKind, rule: account("", "installer"), own: account("apps", "other"),
			want: want{User: "system:serviceaccount:apps:other"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &Config{Kind: v1alpha1.ClusterProviderConfigKind, Name: "c"}
			if tc.kind != "" {
				c.Kind = tc.kind
			}
			c.Spec.Impersonate = tc.rule
			user, err := c.User("team-a", tc.own)
			got := want{User: user}
			if err != nil {
				got.Err = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nUser(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	cases := map[string]struct {
		reason string
		source v1alpha1.CredentialsSource
		set    v1alpha1.LookupPolicy
		want   v1alpha1.LookupPolicy
	}{
		"Secret":   {reason: "The Secrets of a cluster are those of its kubeconfig.", source: v1alpha1.CredentialsSourceSecret, want: v1alpha1.LookupAllowed},
		"Injected": {reason: "The provider can read those of all tenants.", source: v1alpha1.CredentialsSourceInjectedIdentity, want: v1alpha1.LookupNoSecrets},
		"Opened":   {reason: "lookup of Secrets can be allowed with the provider's own identity.", source: v1alpha1.CredentialsSourceInjectedIdentity, set: v1alpha1.LookupAllowed, want: v1alpha1.LookupAllowed},
		"Closed":   {reason: "lookup can be denied with every source of credentials.", source: v1alpha1.CredentialsSourceSecret, set: v1alpha1.LookupDenied, want: v1alpha1.LookupDenied},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &Config{Spec: v1alpha1.ProviderConfigSpec{Credentials: v1alpha1.Credentials{Source: tc.source}, Lookup: tc.set}}
			if diff := cmp.Diff(tc.want, c.Lookup()); diff != "" {
				t.Errorf("\n%s\nLookup(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
