// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard/netguardtest"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/layers"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

// newRepository starts a chart repository that is also a registry, with one chart. refers returns the URL in its index.
func newRepository(t *testing.T, chart []byte, refers func() string) *ocitest.Server {
	t.Helper()
	reg := ocitest.NewRegistry(t)
	reg.PushManifest(t, "charts/sample", "1.0.0", layers.HelmConfig, layers.HelmContent, chart)
	mux := http.NewServeMux()
	mux.Handle("/v2/", reg)
	mux.HandleFunc("/index.yaml", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(indexHead + entry("1.0.0", refers(), oci.DigestOf(chart))))
	})
	mux.HandleFunc("/a.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(chart) })
	return ocitest.NewServer(t, mux, false)
}

// portOf returns the port of a server with a colon in front.
func portOf(s *ocitest.Server) string { return strings.TrimPrefix(s.Host(), "127.0.0.1") }

// guardWith returns a guard that knows some names. In addition to the Internet, registries can refer to the allowed addresses.
func guardWith(allowed ...netip.Prefix) *netguard.Guard {
	names := netguardtest.Names{
		"repo.example.test":     {"127.0.0.1"},
		"REPO.example.test":     {"127.0.0.1"},
		"other.example.test":    {"127.0.0.1"},
		"loopback.example.test": {"127.0.0.2"},
		"service.example.test":  {"10.96.0.1"},
		"private.example.test":  {"192.168.1.1"},
	}
	return netguard.New(netguard.Options{
		Resolver: names.Resolver(nil), Services: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12")}, Allow: allowed,
	})
}

// TestAddressesOfIndexes checks to which addresses the index of a chart repository can refer the provider.
func TestAddressesOfIndexes(t *testing.T) {
	const (
		loopback = "refusing to connect to a loopback address"
		services = "refusing to connect to an address in the Service range of the control plane"
		private  = "refusing to connect to an address in a private network"
	)
	chart := ocitest.Chart(t, "addresses")
	var to string
	refers := func() string { return to }
	s, other := newRepository(t, chart, refers), newRepository(t, chart, refers)
	at := func(prefix string) string { return prefix + portOf(other) }
	// A ProviderConfig without registries leads to tenant, and a ClusterProviderConfig without registries to an empty list.
	tenant, tenantHTTP := oci.Registries{{Host: "*", Tenant: true}}, oci.Registries{{Host: "*", Tenant: true, PlainHTTP: true}}
	open := oci.Registries{{Host: "*", PlainHTTP: true}}
	listed := oci.Registries{{Host: s.Host(), PlainHTTP: true}, {Host: at("other.example.test"), PlainHTTP: true}}
	cases := map[string]struct {
		reason string
		regs   oci.Registries
		// from is the host name of the repository. The default is 127.0.0.1.
		from string
		to   string
		// internet is true if 127.0.0.1 counts as an address on the Internet.
		internet bool
		want     string
	}{
		"Private":       {reason: "An index cannot refer to a private network.", to: "https://private.example.test/a.tgz?x=1", want: private},
		"PrivateIP":     {reason: "The notation makes no difference.", to: "https://192.168.1.1/a.tgz", want: private},
		"Loopback":      {reason: "An index cannot refer to programs on the node.", to: "https://loopback.example.test/a.tgz", want: loopback},
		"LoopbackIP":    {reason: "Another port of the same machine is another server.", to: at("http://127.0.0.1") + "/a.tgz", want: loopback},
		"Relative":      {reason: "A URL without a scheme can contain a host.", to: at("//127.0.0.1") + "/a.tgz", want: loopback},
		"DefaultPort":   {reason: "A URL without a port has the port of its scheme.", to: "http://127.0.0.1/a.tgz", want: loopback},
		"Service":       {reason: "An index cannot refer to a Service of the control plane.", to: "https://service.example.test/a.tgz", want: services},
		"OCIPrivate":    {reason: "Private networks are refused for registries.", to: "oci://private.example.test/charts/sample:1.0.0", want: private},
		"OCIPrivateIP":  {reason: "Addresses in private networks are refused for registries.", to: "oci://192.168.1.1/charts/sample", want: private},
		"OCILoopback":   {reason: "Loopback is refused for registries.", to: "oci://loopback.example.test/charts/sample:1.0.0", want: loopback},
		"OCILoopbackIP": {reason: "Another port is refused for registries.", to: at("oci://127.0.0.1") + "/charts/sample:1.0.0", want: loopback},
		"OCIService":    {reason: "Services are refused for registries.", to: "oci://service.example.test/charts/sample:1.0.0", want: services},

		"TenantPrivate":     {reason: "It is the same with the config of a tenant.", regs: tenant, internet: true, to: "https://private.example.test/a.tgz", want: private},
		"TenantLoopback":    {reason: "A tenant can't name loopback, either.", regs: tenant, internet: true, to: "https://loopback.example.test/a.tgz", want: loopback},
		"TenantService":     {reason: "A tenant can't name a Service, either.", regs: tenant, internet: true, to: "https://service.example.test/a.tgz", want: services},
		"TenantOCIPrivate":  {reason: "Private networks are refused.", regs: tenant, internet: true, to: "oci://private.example.test/charts/sample", want: private},
		"TenantOCILoopback": {reason: "Loopback is refused.", regs: tenant, internet: true, to: "oci://loopback.example.test/charts/sample", want: loopback},
		"TenantOCIService":  {reason: "Services are refused.", regs: tenant, internet: true, to: "oci://service.example.test/charts/sample", want: services},
		"BesideListed":      {reason: "Other entries change nothing.", regs: append(open[:1:1], listed...), to: "http://private.example.test/a.tgz", want: private},

		"Path":          {reason: "The archive is next to the index.", to: "a.tgz"},
		"Same":          {reason: "The URL contains the host of the repository, which the config can name.", to: s.URL + "/a.tgz"},
		"SameName":      {reason: "Host names are not case-sensitive.", regs: open, from: "repo.example.test", to: "http://REPO.example.test" + portOf(s) + "/a.tgz"},
		"OCISame":       {reason: "The repository is also a registry.", to: "oci://" + s.Host() + "/charts/sample:1.0.0"},
		"OtherName":     {reason: "Another name of the same server is another host.", regs: open, to: "http://repo.example.test" + portOf(s) + "/a.tgz", want: loopback},
		"Listed":        {reason: "The config lists the other server.", regs: listed, to: at("http://other.example.test") + "/a.tgz"},
		"OCIListed":     {reason: "The config lists the registry.", regs: listed, to: at("oci://other.example.test") + "/charts/sample:1.0.0"},
		"ListedAndOpen": {reason: "The config lists the other server, and allows all others.", regs: append(open[:1:1], listed...), to: at("http://other.example.test") + "/a.tgz"},
		"Internet":      {reason: "An index can refer to the Internet.", regs: open, internet: true, to: at("http://other.example.test") + "/a.tgz"},
		"OCIInternet":   {reason: "An index can refer to a registry on the Internet.", regs: open, internet: true, to: at("oci://other.example.test") + "/charts/sample:1.0.0"},
		"TenantAbroad":  {reason: "The index of a tenant can refer to the Internet.", regs: tenantHTTP, internet: true, to: at("http://other.example.test") + "/a.tgz"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			other.Forget()
			to = tc.to
			guard := guardWith()
			if tc.internet {
				guard = guardWith(netip.MustParsePrefix("127.0.0.1/32"))
			}
			from := s.URL
			if tc.from != "" {
				from = "http://" + tc.from + portOf(s)
			}
			a, err := newClient(t, WithGuard(guard)).RepoChart(t.Context(), tc.regs, from, "sample", "")
			if (err == nil) != (tc.want == "") || !strings.Contains(text(err), tc.want) {
				t.Errorf("%s\nRepoChart(...): error %q does not contain %q", tc.reason, text(err), tc.want)
			}
			if err == nil && a.Digest != oci.DigestOf(chart) {
				t.Errorf("%s\nRepoChart(...): got digest %s", tc.reason, a.Digest)
			}
			if requests := other.Requests(); tc.want != "" && len(requests) > 0 {
				t.Errorf("%s\nthe other server got requests: %v", tc.reason, requests)
			}
		})
	}
}

// TestIndexesShareNothing checks that an index cannot use the connections to a server, and the content from it, that a config can use
// because it names the server.
func TestIndexesShareNothing(t *testing.T) {
	chart := ocitest.Chart(t, "share")
	to := ""
	s := newRepository(t, chart, func() string { return to })
	other := newRepository(t, chart, func() string { return "a.tgz" })
	cases := map[string]struct {
		reason string
		to     string
		named  func(c *Client) error
	}{
		"Archive": {reason: "An archive has a digest.", to: other.URL + "/a.tgz", named: func(c *Client) error {
			_, err := c.RepoChart(t.Context(), nil, other.URL, "sample", "")
			return err
		}},
		"Registry": {reason: "A chart has a tag.", to: "oci://" + other.Host() + "/charts/sample:1.0.0", named: func(c *Client) error {
			_, err := c.Chart(t.Context(), nil, "oci://"+other.Host()+"/charts", "sample", "1.0.0")
			return err
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			to = tc.to
			c := newClient(t, WithGuard(guardWith()))
			for range 2 {
				if err := tc.named(c); err != nil {
					t.Fatalf("%s\nthe config names the server: %v", tc.reason, err)
				}
				other.Forget()
				_, err := c.RepoChart(t.Context(), nil, s.URL, "sample", "")
				if want := "refusing to connect to a loopback address"; !strings.Contains(text(err), want) {
					t.Errorf("%s\nRepoChart(...): error %q does not contain %q", tc.reason, text(err), want)
				}
				if requests := other.Requests(); len(requests) > 0 {
					t.Errorf("%s\nthe other server got requests: %v", tc.reason, requests)
				}
			}
		})
	}
}
