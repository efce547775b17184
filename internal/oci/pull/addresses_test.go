// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard/netguardtest"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

// TestAddressesOfRegistries checks to which addresses a registry or chart repository can refer the provider, and which
// addresses a config can specify.
func TestAddressesOfRegistries(t *testing.T) {
	var reached atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer inside.Close()
	_, port, err := net.SplitHostPort(inside.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := ocitest.NewRegistry(t)
	_, own, err := net.SplitHostPort(s.Host())
	if err != nil {
		t.Fatal(err)
	}
	names := netguardtest.Names{
		"registry.example.test": {"127.0.0.1"},
		"inside.example.test":   {"127.0.0.1"},
		"metadata.example.test": {"169.254.169.254"},
		"alibaba.example.test":  {"100.100.100.200"},
		"service.example.test":  {"10.96.0.1"},
		"private.example.test":  {"192.168.1.1"},
	}
	const (
		none     = "refusing to connect to the address of a metadata service"
		loopback = "refusing to connect to a loopback address"
		services = "refusing to connect to an address in the Service range of the control plane"
		private  = "refusing to connect to an address in a private network"
	)
	const token, blob = "token", "blob"
	cases := map[string]struct {
		reason string
		host   string
		tenant bool
		listed bool
		// to is the host to which the registry refers, and by is the way in which it does so.
		to, by string
		want   string
	}{
		"Metadata":      {reason: "A name is not an address.", by: blob, to: "metadata.example.test:" + port, want: none},
		"Alibaba":       {reason: "Each cloud has one.", by: blob, to: "alibaba.example.test:" + port, want: none},
		"Loopback":      {reason: "A registry cannot redirect to programs on the node.", by: blob, to: "inside.example.test:" + port, want: loopback},
		"OtherPort":     {reason: "Another port of the same machine is another server.", by: blob, to: "registry.example.test:" + port, want: loopback},
		"Service":       {reason: "A registry cannot redirect to a Service of the control plane.", by: blob, to: "service.example.test:" + port, want: services},
		"Private":       {reason: "A registry cannot redirect to a private network.", by: blob, to: "private.example.test:" + port, want: private},
		"TokenMetadata": {reason: "A registry cannot request tokens from a metadata service.", by: token, to: "metadata.example.test:" + port, want: none},
		"TokenService":  {reason: "A registry cannot request tokens from a Service.", by: token, to: "service.example.test:" + port, want: services},
		"TokenPort":     {reason: "A registry cannot request tokens from another port.", by: token, to: "registry.example.test:" + port, want: loopback},
		"Listed":        {reason: "The config names the other server, too.", listed: true, by: blob, to: "inside.example.test:" + port, want: "returned different content"},
		"ListedTenant":  {reason: "The config of a tenant cannot allow another server.", tenant: true, listed: true, by: blob, to: "inside.example.test:" + port, want: loopback},
		"Own":           {reason: "A config can name the registry of the platform.", want: ""},
		"OwnTenant":     {reason: "A tenant can't name a program of the node.", tenant: true, want: loopback},
		"OwnMetadata":   {reason: "No config can use the host name of a metadata service.", host: "metadata.example.test:" + port, want: none},
		"OwnLiteral":    {reason: "No config can use the address of a metadata service.", host: "169.254.169.254", want: none},
		"OwnService":    {reason: "A tenant can't name a Service of the control plane.", tenant: true, host: "service.example.test", want: services},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reached.Store(0)
			s.Misbehave(func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case tc.by == token && r.URL.Path == "/v2/":
					w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="x"`, tc.to))
					w.WriteHeader(http.StatusUnauthorized)
					return true
				case tc.by == blob && strings.Contains(r.URL.Path, "/blobs/"):
					http.Redirect(w, r, "http://"+tc.to+"/latest", http.StatusTemporaryRedirect)
					return true
				}
				return false
			})
			digest := s.Push(t, repo, ocitest.Chart(t, "addresses"))
			guard := netguard.New(netguard.Options{Resolver: names.Resolver(nil), Services: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12")}})
			c := newClient(t, WithGuard(guard))
			host := tc.host
			if host == "" {
				host = "registry.example.test:" + own
			}
			regs := oci.Registries{{Host: host, PlainHTTP: true, Tenant: tc.tenant}}
			if tc.listed {
				regs = append(regs, oci.Registry{Host: tc.to, PlainHTTP: true, Tenant: tc.tenant})
			}
			_, err := c.Blob(t.Context(), regs, host+"/"+repo, digest)
			if (err == nil) != (tc.want == "") || !strings.Contains(text(err), tc.want) {
				t.Errorf("%s\nBlob(...): error %q does not contain %q", tc.reason, text(err), tc.want)
			}
			if tc.by == "" && tc.want != "" {
				// Chart repositories use the same code.
				if _, err := c.RepoChart(t.Context(), regs, "http://"+host, "sample", ""); !strings.Contains(text(err), tc.want) {
					t.Errorf("%s\nRepoChart(...): error %q does not contain %q", tc.reason, text(err), tc.want)
				}
			}
			if n := reached.Load(); n != 0 && !tc.listed {
				t.Errorf("%s\nthe other server got %d requests", tc.reason, n)
			}
		})
	}
}
