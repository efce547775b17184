// SPDX-License-Identifier: Apache-2.0

package target

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestIdentityServer checks to which servers tokens of the provider's own identity are sent.
func TestIdentityServer(t *testing.T) {
	const (
		google  = v1alpha1.IdentityTypeGoogleApplicationCredentials
		aws     = v1alpha1.IdentityTypeAWSWebIdentityCredentials
		azure   = v1alpha1.IdentityTypeAzureWorkloadIdentityCredentials
		upbound = v1alpha1.IdentityTypeUpboundTokens
		unknown = "the server in the kubeconfig receives tokens of the provider, but is not a known host for type"
	)
	proxy := http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.example.org"})
	cases := map[string]struct {
		reason string
		kind   v1alpha1.IdentityType
		server string
		rc     rest.Config
		want   string
	}{
		"EKS":         {reason: "AWS runs a server with this name.", kind: aws, rc: rest.Config{Host: "https://ABC.gr7.eu-central-1.eks.amazonaws.com"}},
		"EKSIPv6":     {reason: "AWS runs a server with this name over IPv6.", kind: aws, rc: rest.Config{Host: "https://abc.eks-cluster.us-west-2.api.aws"}},
		"GKE":         {reason: "Google runs a server with this name.", kind: google, rc: rest.Config{Host: "https://gke-1.europe-west3.gke.goog"}},
		"AKS":         {reason: "Azure runs a server with this name.", kind: azure, rc: rest.Config{Host: "https://x.hcp.westeurope.azmk8s.io:443"}},
		"Upbound":     {reason: "Upbound runs a server with this name.", kind: upbound, rc: rest.Config{Host: "https://x.space.mxe.upbound.io/apis"}},
		"Elsewhere":   {reason: "A server outside of the cloud could use the token.", kind: aws, rc: rest.Config{Host: "https://api.example.org"}, want: unknown},
		"OtherCloud":  {reason: "A server of another cloud could use the token.", kind: google, rc: rest.Config{Host: "https://abc.gr7.eu-central-1.eks.amazonaws.com"}, want: unknown},
		"Suffix":      {reason: "A similar name isn't one of the cloud.", kind: aws, rc: rest.Config{Host: "https://eks.amazonaws.com.example.org"}, want: unknown},
		"NoDot":       {reason: "A similar name isn't one of the cloud.", kind: google, rc: rest.Config{Host: "https://my-gke.goog"}, want: unknown},
		"Address":     {reason: "An address does not show that the cloud runs the server.", kind: google, rc: rest.Config{Host: "https://198.51.100.1"}, want: unknown},
		"Fixed":       {reason: "The config may name the address of the server.", kind: google, server: "198.51.100.1", rc: rest.Config{Host: "https://198.51.100.1:443"}},
		"FixedIPv6":   {reason: "The config may name the IPv6 address of the server.", kind: google, server: "[2001:db8::1]", rc: rest.Config{Host: "https://[2001:DB8::1]/"}},
		"FixedOther":  {reason: "The kubeconfig in a changed Secret cannot name another server than the config.", kind: google, server: "198.51.100.1", rc: rest.Config{Host: "https://198.51.100.2"}, want: "must be the host of the server in the kubeconfig"},
		"FixedPort":   {reason: "Another port is another server.", kind: google, server: "198.51.100.1", rc: rest.Config{Host: "https://198.51.100.1:8443"}, want: "must be the host of the server in the kubeconfig"},
		"FixedNarrow": {reason: "If the config names a server, other servers of the cloud are refused.", kind: aws, server: "a.gr7.eu-central-1.eks.amazonaws.com", rc: rest.Config{Host: "https://b.gr7.eu-central-1.eks.amazonaws.com"}, want: "must be the host of the server in the kubeconfig"},
		"Plain":       {reason: "Without TLS, everyone could read the token.", kind: aws, rc: rest.Config{Host: "http://abc.gr7.eu-central-1.eks.amazonaws.com"}, want: "must be an https URL"},
		"Insecure":    {reason: "Without verification, everyone could be the server.", kind: aws, rc: rest.Config{Host: "https://abc.gr7.eu-central-1.eks.amazonaws.com", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, want: "proxy-url and insecure-skip-tls-verify are not allowed in the kubeconfig, because the server receives tokens of the provider"},
		"Proxy":       {reason: "A proxy could read the token, with a certificate authority of the Secret.", kind: aws, rc: rest.Config{Host: "https://abc.gr7.eu-central-1.eks.amazonaws.com", Proxy: proxy}, want: "proxy-url and insecure-skip-tls-verify are not allowed in the kubeconfig, because the server receives tokens of the provider"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := (&identity{kind: tc.kind, server: tc.server}).checkServer(&tc.rc)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\ncheckServer(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestIdentityServerOfSecret checks that Resolve determines to whom the identity and the kubeconfig belong.
func TestIdentityServerOfSecret(t *testing.T) {
	s := newAPIServer(t)
	store := secrets{"ns/s": {"kubeconfig": s.credentials("", "").kubeconfig, "token": []byte("token")}}
	kubeconfig := fromSecret("ns", "s", "kubeconfig")
	injected := fromSource(v1alpha1.CredentialsSourceInjectedIdentity)
	const google = v1alpha1.IdentityTypeGoogleApplicationCredentials
	cases := map[string]struct {
		reason string
		spec   v1alpha1.ProviderConfigSpec
		want   string
	}{
		"Own":         {reason: "A token in a Secret isn't that of the provider.", spec: withIdentity(kubeconfig, google, fromSecret("ns", "s", "token"))},
		"Environment": {reason: "A token in an environment variable is that of the provider.", spec: withIdentity(kubeconfig, google, fromEnv("TOKEN")), want: "spec.identity: the server in the kubeconfig"},
		"FixedConfig": {reason: "An administrator wrote this kubeconfig.", spec: withIdentity(fromEnv("KUBECONFIG_DATA"), google, fromEnv("TOKEN"))},
		"Injected":    {reason: "The role of the pod is that of the provider.", spec: withIdentity(kubeconfig, v1alpha1.IdentityTypeAWSWebIdentityCredentials, injected), want: "spec.identity: the server in the kubeconfig"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := NewResolver(store, Policy{})
			r.getenv = func(name string) string {
				return map[string]string{"TOKEN": "token", "KUBECONFIG_DATA": string(store["ns/s"]["kubeconfig"])}[name]
			}
			c, err := r.Resolve(t.Context(), "", tc.spec)
			if err != nil {
				t.Fatal(err)
			}
			p := NewPool(fakeInterpreter{})
			defer p.Close()
			_, err = p.Get("x", c)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nGet(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
