// SPDX-License-Identifier: Apache-2.0

package target

import (
	"net"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard/netguardtest"
)

// TestAddresses checks to which API servers a kubeconfig can refer, by the addresses to which their names resolve.
func TestAddresses(t *testing.T) {
	s := newAPIServer(t)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	names := netguardtest.Names{
		// The certificate of the server is for this name.
		"example.com":           {"127.0.0.1"},
		"metadata.example.test": {"100.100.100.200"},
		"metadata6.example.net": {"fd00:ec2::254"},
	}
	services, err := netguard.ParseRanges([]string{"10.96.0.0/12"})
	if err != nil {
		t.Fatal(err)
	}
	loopback, err := netguard.ParseRanges([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason   string
		host     string
		platform bool
		allow    bool
		proxy    string
		want     string
	}{
		"Loopback":         {reason: "A tenant doesn't reach the programs of the node.", host: "example.com", want: "refusing to connect to a loopback address; if this is intended, start the provider with --allow-target-cidr"},
		"LoopbackAllowed":  {reason: "A tenant reaches the programs of the node if a flag allows it.", host: "example.com", allow: true},
		"LoopbackPlatform": {reason: "An administrator reaches the programs of the node.", host: "example.com", platform: true},
		"Service":          {reason: "A tenant doesn't reach the Services of the control plane.", host: "10.96.0.1", want: "an address in the Service range of the control plane"},
		"Metadata":         {reason: "No one reaches the metadata service of a cloud.", host: "metadata.example.test", platform: true, allow: true, want: "refusing to connect to the address of a metadata service"},
		"Metadata6":        {reason: "No one reaches the metadata service of a cloud over IPv6.", host: "metadata6.example.net", platform: true, allow: true, want: "refusing to connect to the address of a metadata service"},
		"NAT64":            {reason: "No one reaches the metadata service of a cloud through a NAT64 gateway.", host: "[64:ff9b::a9fe:a9fe]", platform: true, allow: true, want: "refusing to connect to the address of a metadata service"},
		"Proxy":            {reason: "The proxy of a kubeconfig is a host that the tenant names.", host: "api.example.org", proxy: "http://127.0.0.1:" + port, want: "refusing to connect to a loopback address"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := netguard.Options{Resolver: names.Resolver(nil), Services: services}
			if tc.allow {
				o.Allow = loopback
			}
			p := NewPool(fakeInterpreter{}, WithGuard(netguard.New(o)))
			defer p.Close()
			creds := s.credentials("t", "")
			creds.platform = tc.platform
			server := "https://" + net.JoinHostPort(strings.Trim(tc.host, "[]"), port)
			if tc.proxy != "" {
				server += "', proxy-url: '" + tc.proxy
			}
			creds.kubeconfig = []byte(strings.ReplaceAll(string(creds.kubeconfig), s.URL, server))
			creds.Digest = digest(creds)
			_, err := must[*Cluster](t)(p.Get("x", creds)).Version(t.Context())
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nVersion(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestAddressOfControlPlane checks that no range is refused for the provider's own control plane.
func TestAddressOfControlPlane(t *testing.T) {
	s := newAPIServer(t)
	all, err := netguard.ParseRanges([]string{"0.0.0.0/0"})
	if err != nil {
		t.Fatal(err)
	}
	local := &rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	p := NewPool(fakeInterpreter{}, WithLocal(local), WithGuard(netguard.New(netguard.Options{Deny: all, Services: all})))
	defer p.Close()
	must[string](t)(must[*Cluster](t)(p.Get("x", Credentials{Digest: "d", injected: true})).Version(t.Context()))
}
