// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// labelMap contains the labels of namespaces.
type labelMap map[string]map[string]string

func (m labelMap) Labels(_ context.Context, name string) (map[string]string, error) {
	if l, ok := m[name]; ok {
		return l, nil
	}
	return nil, errors.New("cannot get namespace " + name)
}

func TestAllow(t *testing.T) {
	namespaces := labelMap{"team-a": {"tier": "gold"}, "team-b": {"tier": "iron"}}
	credentials := func(s v1alpha1.CredentialsSource) v1alpha1.ProviderConfigSpec {
		return v1alpha1.ProviderConfigSpec{Credentials: v1alpha1.Credentials{Source: s}}
	}
	identity := func(kind v1alpha1.IdentityType, s v1alpha1.CredentialsSource) v1alpha1.ProviderConfigSpec {
		out := credentials(v1alpha1.CredentialsSourceSecret)
		out.Identity = &v1alpha1.Identity{Type: kind, Credentials: v1alpha1.Credentials{Source: s}}
		return out
	}
	secret, injected := credentials(v1alpha1.CredentialsSourceSecret), credentials(v1alpha1.CredentialsSourceInjectedIdentity)
	names := func(n ...string) *v1alpha1.AllowedNamespaces { return &v1alpha1.AllowedNamespaces{Names: n} }
	gold := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
	own := "it uses the credentials of the provider and spec.allowedNamespaces is not set"
	cases := map[string]struct {
		reason    string
		kind      string
		spec      v1alpha1.ProviderConfigSpec
		allowed   *v1alpha1.AllowedNamespaces
		namespace string
		want      string
		// undecided is set if it cannot be determined whether the namespace is allowed.
		undecided bool
	}{
		"ProviderConfig": {reason: "Only its own namespace can refer to it.", kind: v1alpha1.ProviderConfigKind, spec: injected},
		"Secret":         {reason: "Credentials in a Secret can be used by all namespaces.", spec: secret},
		"Injected":       {reason: "By default, no namespace can use the provider's own credentials.", spec: injected, want: own},
		"Filesystem":     {reason: "A file belongs to the provider.", spec: credentials(v1alpha1.CredentialsSourceFilesystem), want: own},
		"Environment":    {reason: "An environment variable belongs to the provider.", spec: credentials(v1alpha1.CredentialsSourceEnvironment), want: own},
		"Identity":       {reason: "A cloud identity belongs to the provider.", spec: identity(v1alpha1.IdentityTypeAWSWebIdentityCredentials, v1alpha1.CredentialsSourceInjectedIdentity), want: own},
		"IdentityFile":   {reason: "The file of a cloud identity belongs to the provider.", spec: identity(v1alpha1.IdentityTypeUpboundTokens, v1alpha1.CredentialsSourceFilesystem), want: own},
		"IdentitySecret": {reason: "An identity in a Secret can be used by all namespaces.", spec: identity(v1alpha1.IdentityTypeUpboundTokens, v1alpha1.CredentialsSourceSecret)},
		"WorkloadIdentity": {
			reason: "The token of a workload identity belongs to the provider's pod.",
			spec:   identity(v1alpha1.IdentityTypeAzureWorkloadIdentityCredentials, v1alpha1.CredentialsSourceSecret), want: own,
		},
		"Named":     {reason: "A namespace that is listed is allowed.", spec: injected, allowed: names("team-b", "team-a")},
		"NotNamed":  {reason: "A namespace that is not listed is refused, whatever the credentials.", spec: secret, allowed: names("team-b"), want: "the namespace is not listed in spec.allowedNamespaces.names"},
		"NoNames":   {reason: "An empty list allows none, so that removing its last entry does not open the config.", spec: secret, allowed: names(), want: "is not listed in"},
		"Selected":  {reason: "A namespace with matching labels is allowed.", spec: injected, allowed: &v1alpha1.AllowedNamespaces{Selector: gold}},
		"Either":    {reason: "A namespace that is listed does not need matching labels.", spec: injected, allowed: &v1alpha1.AllowedNamespaces{Names: []string{"team-b"}, Selector: gold}},
		"Unlabeled": {reason: "A namespace without matching labels is refused.", spec: injected, allowed: &v1alpha1.AllowedNamespaces{Selector: gold}, namespace: "team-b", want: "the namespace is not selected by spec.allowedNamespaces"},
		"All": {
			reason: "An empty selector selects all namespaces, and needs no permission to read them.",
			spec:   injected, allowed: &v1alpha1.AllowedNamespaces{Selector: &metav1.LabelSelector{}}, namespace: "unreadable",
		},
		"Unreadable": {
			reason: "A namespace that cannot be read is not allowed.",
			spec:   injected, allowed: &v1alpha1.AllowedNamespaces{Selector: gold}, namespace: "unreadable",
			want: "ClusterProviderConfig c: spec.allowedNamespaces.selector: cannot get namespace unreadable", undecided: true,
		},
		"BadSelector": {
			reason: "The error for an invalid selector names it.",
			spec:   injected, allowed: &v1alpha1.AllowedNamespaces{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}},
			want: "ClusterProviderConfig c: spec.allowedNamespaces.selector", undecided: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &Config{Kind: v1alpha1.ClusterProviderConfigKind, Name: "c", Spec: tc.spec, AllowedNamespaces: tc.allowed}
			if tc.kind != "" {
				c.Kind = tc.kind
			}
			if tc.namespace == "" {
				tc.namespace = "team-a"
			}
			err := c.Allow(t.Context(), namespaces, tc.namespace)
			if tc.want == "" {
				if err != nil {
					t.Errorf("\n%s\nAllow(...): %v", tc.reason, err)
				}
				return
			}
			refused := (*RefusedError)(nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) || errors.As(err, &refused) == tc.undecided {
				t.Errorf("\n%s\nAllow(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
