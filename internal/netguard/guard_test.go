// SPDX-License-Identifier: Apache-2.0

package netguard

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http/httpproxy"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard/netguardtest"
)

// Classes of addresses.
const (
	unspecified = "an unspecified address"
	metadata    = "the address of a metadata service"
	linkLocal   = "a link-local address"
	multicast   = "a multicast address"
	broadcast   = "a broadcast address"
	local       = "a loopback address"
	services    = "an address in the Service range of the control plane"
	inside      = "an address in a private network"
	denied      = "an address in a range of --deny-target-cidr"
)

func ranges(t *testing.T, texts ...string) []netip.Prefix {
	t.Helper()
	out, err := ParseRanges(texts)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// classOf returns the class of an error, or an empty string.
func classOf(t *testing.T, err error) string {
	t.Helper()
	r := (*RefusedError)(nil)
	if err != nil && !errors.As(err, &r) {
		t.Fatalf("want a RefusedError, got %v", err)
	}
	if r == nil {
		return ""
	}
	return r.Class
}

// TestAlways checks the addresses that are refused regardless of flags, in each notation.
func TestAlways(t *testing.T) {
	cases := map[string]struct {
		reason  string
		address string
		want    string
	}{
		"EC2":              {reason: "Amazon, Google, Azure and most other clouds have their metadata service here.", address: "169.254.169.254", want: metadata},
		"EC2OverIPv6":      {reason: "Amazon has its metadata service at this address over IPv6.", address: "fd00:ec2::254", want: metadata},
		"EC2Zone":          {reason: "A zone changes nothing.", address: "fd00:ec2::254%eth0", want: metadata},
		"PodIdentity":      {reason: "Amazon's agent for the identities of pods has this address.", address: "fd00:ec2::23", want: metadata},
		"PodIdentity4":     {reason: "Amazon's agent for the identities of pods has this address over IPv4.", address: "169.254.170.23", want: linkLocal},
		"Google6":          {reason: "Google has its metadata service at this address over IPv6.", address: "fd20:ce::254", want: metadata},
		"Alibaba":          {reason: "Alibaba Cloud has its metadata service here.", address: "100.100.100.200", want: metadata},
		"Azure":            {reason: "The agent of the host in Azure has this address.", address: "168.63.129.16", want: metadata},
		"Oracle":           {reason: "Oracle Cloud has its metadata service here.", address: "192.0.0.192", want: metadata},
		"Mapped":           {reason: "An IPv4 address can be mapped to an IPv6 address.", address: "::ffff:169.254.169.254", want: metadata},
		"Compatible":       {reason: "An IPv6 address can contain an IPv4 address in the old, compatible form.", address: "::169.254.169.254", want: metadata},
		"Translated":       {reason: "An IPv6 address can contain an IPv4 address in the form of RFC 2765.", address: "::ffff:0:169.254.169.254", want: metadata},
		"NAT64":            {reason: "A NAT64 gateway translates this address to that of the metadata service.", address: "64:ff9b::a9fe:a9fe", want: metadata},
		"NAT64Alibaba":     {reason: "A NAT64 gateway translates this address to that of the metadata service of Alibaba Cloud.", address: "64:ff9b::6464:64c8", want: metadata},
		"NAT64Loopback":    {reason: "A NAT64 address of the loopback range is not refused in general.", address: "64:ff9b::7f00:1", want: ""},
		"NAT64Local":       {reason: "A NAT64 gateway can have a local prefix.", address: "64:ff9b:1::a9fe:a9fe", want: metadata},
		"NAT64LocalShort":  {reason: "A local NAT64 prefix can be short, so that the IPv4 address is at another position.", address: "64:ff9b:1:a9fe:a9:fe00::", want: metadata},
		"NAT64LocalPublic": {reason: "Zeros around a public address in a local NAT64 prefix are not an address.", address: "64:ff9b:1::c000:201", want: ""},
		"NAT64Public":      {reason: "Clusters without IPv4 reach public IPv4 addresses by NAT64.", address: "64:ff9b::c633:6401", want: ""},
		"6to4":             {reason: "A 6to4 relay translates this address to that of the metadata service.", address: "2002:a9fe:a9fe::", want: metadata},
		"Teredo":           {reason: "A Teredo relay translates this address to that of the metadata service.", address: "2001:0:c633:6401:0:0:5601:5601", want: metadata},
		"LinkLocal":        {reason: "A link-local address is not that of an API server.", address: "169.254.1.1", want: linkLocal},
		"LinkLocal6":       {reason: "A link-local address over IPv6 is not that of an API server.", address: "fe80::1%eth0", want: linkLocal},
		"Multicast":        {reason: "A multicast address does not belong to a single server.", address: "224.0.0.1", want: multicast},
		"Multicast6":       {reason: "A multicast address over IPv6 does not belong to a single server.", address: "ff02::1", want: multicast},
		"Broadcast":        {reason: "The broadcast address does not belong to a single server.", address: "255.255.255.255", want: broadcast},
		"Unspecified":      {reason: "Linux treats the unspecified address as loopback.", address: "0.0.0.0", want: unspecified},
		"Unspecified6":     {reason: "Linux treats the unspecified IPv6 address as loopback.", address: "::", want: unspecified},
		"ThisNetwork":      {reason: "Addresses that begin with 0 belong to no server.", address: "0.1.2.3", want: unspecified},
		"Public":           {reason: "A server on the Internet is not refused.", address: "198.51.100.1", want: ""},
		"Public6":          {reason: "A server on the Internet is not refused over IPv6.", address: "2001:db8::1", want: ""},
		"Private":          {reason: "Many API servers have private addresses.", address: "10.1.2.3", want: ""},
	}
	g := New(Options{Allow: ranges(t, "0.0.0.0/0", "::/0", "169.254.169.254", "100.100.100.200", "127.0.0.0/8")})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, trust := range []Trust{Tenant, Platform} {
				if diff := cmp.Diff(tc.want, classOf(t, g.Dialer(trust).Check(netip.MustParseAddr(tc.address)))); diff != "" {
					t.Errorf("%s\ntrust %d: Check(%s): -want, +got:\n%s", tc.reason, trust, tc.address, diff)
				}
			}
			if err := g.Dialer(Own).Check(netip.MustParseAddr(tc.address)); err != nil {
				t.Errorf("the own control plane is refused: %v", err)
			}
		})
	}
}

// TestRanges checks the effect of the ranges in flags, for each level of trust.
func TestRanges(t *testing.T) {
	const tenant, platform, referred = 0, 1, 2
	cases := map[string]struct {
		reason      string
		allow, deny []string
		address     string
		// want is the class for a tenant, for the platform, and for hosts to which a registry of the platform refers.
		want [3]string
	}{
		"Loopback":       {reason: "Tenants must not reach programs in the pod of the provider.", address: "127.0.0.1", want: [3]string{local, "", local}},
		"Loopback6":      {reason: "Tenants must not reach programs in the pod of the provider over IPv6.", address: "::1", want: [3]string{local, "", local}},
		"LoopbackMapped": {reason: "Tenants must not reach the loopback address in another notation.", address: "::ffff:127.1.2.3", want: [3]string{local, "", local}},
		"LoopbackNAT64":  {reason: "Tenants must not reach the loopback address through a NAT64 gateway.", address: "64:ff9b::7f00:1", want: [3]string{local, "", local}},
		"Allowed":        {reason: "A flag allows it to all.", allow: []string{"127.0.0.0/8"}, address: "127.0.0.1"},
		"AllowedOne":     {reason: "A single address is a range.", allow: []string{"127.0.0.1"}, address: "127.0.0.1"},
		"AllowedOther":   {reason: "If a flag allows one address, the others of its range stay refused.", allow: []string{"127.0.0.1"}, address: "127.0.0.2", want: [3]string{local, "", local}},
		"AllowedAll":     {reason: "A wide allowed range does not allow a narrower range that is refused by default.", allow: []string{"0.0.0.0/0"}, address: "127.0.0.1", want: [3]string{local, "", local}},
		"Service":        {reason: "Tenants must not reach the Services of the control plane.", address: "10.96.0.1", want: [3]string{services, "", services}},
		"ServiceAllowed": {reason: "A flag can allow a Service of the control plane.", allow: []string{"10.96.7.7"}, address: "10.96.7.7"},
		"Denied":         {reason: "A denied range is denied to tenants and administrators.", deny: []string{"192.0.2.0/24"}, address: "192.0.2.1", want: [3]string{denied, denied, denied}},
		"DeniedEqual":    {reason: "If a range is both allowed and denied, it is denied.", allow: []string{"192.0.2.0/24"}, deny: []string{"192.0.2.0/24"}, address: "192.0.2.1", want: [3]string{denied, denied, denied}},
		"Exception":      {reason: "A narrow allowed range is an exception from a wide denied range.", allow: []string{"192.0.2.9"}, deny: []string{"0.0.0.0/0"}, address: "192.0.2.9"},
		"NoException":    {reason: "An exception from a denied range does not allow other addresses.", allow: []string{"192.0.2.9"}, deny: []string{"0.0.0.0/0"}, address: "192.0.2.8", want: [3]string{denied, denied, denied}},
		"DeniedMapped":   {reason: "A denied address is denied in any notation.", deny: []string{"192.0.2.0/24"}, address: "::ffff:192.0.2.1", want: [3]string{denied, denied, denied}},
		"DeniedNAT64":    {reason: "A denied address is denied through a NAT64 gateway.", deny: []string{"192.0.2.0/24"}, address: "64:ff9b::192.0.2.1", want: [3]string{denied, denied, denied}},
		"Private":        {reason: "A registry must not refer to a private network.", address: "192.168.1.1", want: [3]string{referred: inside}},
		"Private6":       {reason: "A registry must not refer to a private network over IPv6.", address: "fd12::1", want: [3]string{referred: inside}},
		"Shared":         {reason: "A registry must not refer to the shared range, which clouds use internally.", address: "100.64.1.1", want: [3]string{referred: inside}},
		"PrivateAllowed": {reason: "A flag can allow a private network.", allow: []string{"192.168.0.0/16"}, address: "192.168.1.1"},
		"Public":         {reason: "Public addresses are allowed for all.", address: "198.51.100.1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := New(Options{Allow: ranges(t, tc.allow...), Deny: ranges(t, tc.deny...), Services: ranges(t, "10.96.0.0/12")})
			got := [3]string{}
			for i, d := range []*Dialer{tenant: g.Dialer(Tenant), platform: g.Dialer(Platform), referred: g.Dialer(Platform).Referred()} {
				got[i] = classOf(t, d.Check(netip.MustParseAddr(tc.address)))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nCheck(%s): -want, +got:\n%s", tc.reason, tc.address, diff)
			}
		})
	}
}

// TestDial checks that names are checked by the addresses to which they resolve when they are dialed.
func TestDial(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	names := netguardtest.Names{
		"local.example.test":    {"127.0.0.1"},
		"metadata.example.test": {"169.254.169.254", "fd00:ec2::254"},
		"both.example.test":     {"169.254.169.254", "127.0.0.1"},
	}
	g := New(Options{Resolver: names.Resolver(nil)})
	allowing := New(Options{Resolver: names.Resolver(nil), Allow: ranges(t, "127.0.0.0/8")})
	cases := map[string]struct {
		reason string
		d      *Dialer
		host   string
		want   string
	}{
		"Metadata":       {reason: "The address of a metadata service is refused, whatever its name.", d: g.Dialer(Platform), host: "metadata.example.test", want: metadata},
		"Literal":        {reason: "The address of a metadata service is refused without a name.", d: g.Dialer(Platform), host: "169.254.169.254", want: metadata},
		"Tenant":         {reason: "A tenant reaches no program of the node.", d: g.Dialer(Tenant), host: "local.example.test", want: local},
		"TenantAllowed":  {reason: "A tenant reaches a program of the node if a flag allows it.", d: allowing.Dialer(Tenant), host: "local.example.test"},
		"TenantNoOption": {reason: "A tenant reaches no program of the node by its address.", d: g.Dialer(Tenant), host: "127.0.0.1", want: local},
		"Platform":       {reason: "An administrator reaches programs of the node.", d: g.Dialer(Platform), host: "local.example.test"},
		"Other":          {reason: "If one address of a name is refused, the others are used.", d: g.Dialer(Platform), host: "both.example.test"},
		"Referred":       {reason: "A server must not refer to a program of the node.", d: g.Dialer(Platform).Referred(), host: "local.example.test", want: local},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := tc.d.DialContext(t.Context(), "tcp", net.JoinHostPort(tc.host, port))
			if c != nil {
				c.Close()
			}
			if diff := cmp.Diff(tc.want, classOf(t, err)); diff != "" {
				t.Errorf("%s\nDialContext(%s): -want, +got:\n%s", tc.reason, tc.host, diff)
			}
		})
	}
}

// TestRebinding checks that a name is refused if it resolves to a refused address the second time.
func TestRebinding(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	names := netguardtest.Names{"changing.example.test": {"127.0.0.1"}}
	d := New(Options{Resolver: names.Resolver(nil)}).Dialer(Platform)
	c, err := d.DialContext(t.Context(), "tcp", "changing.example.test:"+port)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	names["changing.example.test"] = []string{"169.254.169.254"}
	_, err = d.DialContext(t.Context(), "tcp", "changing.example.test:"+port)
	if diff := cmp.Diff(metadata, classOf(t, err)); diff != "" {
		t.Errorf("DialContext(...): -want, +got:\n%s", diff)
	}
}

// TestProxy checks which requests are sent to a proxy from the environment.
func TestProxy(t *testing.T) {
	names := netguardtest.Names{
		"metadata.example.test": {"198.51.100.1", "169.254.169.254"},
		"service.example.test":  {"10.96.0.1"},
		"public.example.test":   {"198.51.100.1"},
	}
	g := New(Options{
		Resolver: names.Resolver(nil), Services: ranges(t, "10.96.0.0/12"),
		Proxy: &httpproxy.Config{HTTPProxy: "proxy.example.test:3128", HTTPSProxy: "http://proxy.example.test:3128", NoProxy: "direct.example.test"},
	})
	cases := map[string]struct {
		reason string
		trust  Trust
		own    string
		host   string
		proxy  string
		want   string
	}{
		"Public":     {reason: "Requests to a server on the Internet use the proxy.", host: "public.example.test", proxy: "proxy.example.test:3128"},
		"Metadata":   {reason: "A name with one refused address is refused, because the proxy can use any of its addresses.", trust: Platform, host: "metadata.example.test", want: metadata},
		"Literal":    {reason: "The address of a metadata service is refused with a proxy, too.", trust: Platform, host: "169.254.169.254", want: metadata},
		"Service":    {reason: "A tenant must not reach a Service of the control plane through the proxy.", host: "service.example.test", want: services},
		"Platform":   {reason: "An administrator reaches a Service of the control plane through the proxy.", trust: Platform, host: "service.example.test", proxy: "proxy.example.test:3128"},
		"Hex":        {reason: "A proxy may read it as an address.", trust: Platform, host: "0xa9fea9fe", want: "an IP address in an unusual notation"},
		"Decimal":    {reason: "A proxy may read a decimal number as an address.", trust: Platform, host: "2852039166", want: "an IP address in an unusual notation"},
		"Parts":      {reason: "A proxy may read three parts as an address.", trust: Platform, host: "169.254.43518", want: "an IP address in an unusual notation"},
		"Unknown":    {reason: "The proxy may have another resolver.", host: "unknown.example.test", proxy: "proxy.example.test:3128"},
		"Direct":     {reason: "The dialer checks what needs no proxy.", host: "direct.example.test"},
		"Kubeconfig": {reason: "The proxy of a tenant is in the network of the tenant.", own: "http://tenant.example.test:3128", host: "service.example.test", proxy: "tenant.example.test:3128"},
		"Same":       {reason: "A tenant may not name that of the environment to avoid the check.", own: "http://PROXY.example.test:3128", host: "service.example.test", want: services},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var own func(*http.Request) (*url.URL, error)
			if tc.own != "" {
				u, err := url.Parse(tc.own)
				if err != nil {
					t.Fatal(err)
				}
				own = http.ProxyURL(u)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+tc.host, nil)
			if err != nil {
				t.Fatal(err)
			}
			proxy, err := g.Dialer(tc.trust).Proxy(own)(req)
			if diff := cmp.Diff(tc.want, classOf(t, err)); diff != "" {
				t.Fatalf("%s\nProxy(%s): -want, +got:\n%s", tc.reason, tc.host, diff)
			}
			got := ""
			if proxy != nil && err == nil {
				got = proxy.Host
			}
			if diff := cmp.Diff(tc.proxy, got); diff != "" {
				t.Errorf("%s\nProxy(%s): -want, +got:\n%s", tc.reason, tc.host, diff)
			}
		})
	}
}

// TestProxyAddress checks that the proxy itself can have any address, but that other ports of its machine are refused.
func TestProxyAddress(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer proxy.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	names := netguardtest.Names{"public.example.test": {"198.51.100.1"}}
	g := New(Options{Resolver: names.Resolver(nil), Proxy: &httpproxy.Config{HTTPProxy: proxy.URL}})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://public.example.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := g.Dialer(Tenant).Client(time.Minute).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusTeapot {
		t.Errorf("want the answer of the proxy, got %s", resp.Status)
	}
	_, err = g.Dialer(Tenant).DialContext(t.Context(), "tcp", other.Listener.Addr().String())
	if diff := cmp.Diff(local, classOf(t, err)); diff != "" {
		t.Errorf("another port: -want, +got:\n%s", diff)
	}
}

// TestClient checks that a client for tokens follows no redirects.
func TestClient(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			t.Error("the redirect was followed")
		}
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	resp, err := New(Options{}).Dialer(Platform).Client(time.Minute).Post(s.URL, "text/plain", strings.NewReader("secret")) //nolint:noctx // The shortest way to post.
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("want the redirect itself, got %s", resp.Status)
	}
}

func TestServicesOf(t *testing.T) {
	cases := map[string]struct{ reason, host, want string }{
		"Kubeadm":  {reason: "The default range of Services of kubeadm is used.", host: "10.96.0.1", want: "10.96.0.0/12"},
		"Private":  {reason: "The default range of Services of K3s is used.", host: "10.43.0.1", want: "10.43.0.0/16"},
		"Public":   {reason: "The default range of Services of GKE is used.", host: "34.118.224.1", want: "34.118.224.0/20"},
		"IPv6":     {reason: "The largest possible range of Services over IPv6 is used.", host: "fd00:10:96::1", want: "fd00:10:96::/108"},
		"Public2":  {reason: "The address of a load balancer is not in a range of Services.", host: "203.0.113.9"},
		"Loopback": {reason: "The address of a local control plane is not in a range of Services.", host: "127.0.0.1"},
		"Name":     {reason: "A name has no range of Services.", host: "kubernetes.default.svc"},
		"None":     {reason: "A provider that does not run in a cluster has no range of Services."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, p := range ServicesOf(tc.host) {
				got.WriteString(p.String())
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("%s\nServicesOf(%q): -want, +got:\n%s", tc.reason, tc.host, diff)
			}
		})
	}
}

func TestParseRanges(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   string
		err    bool
	}{
		"Range":   {reason: "A range has an address and a number of bits.", text: "10.0.0.0/8", want: "10.0.0.0/8"},
		"Bits":    {reason: "Bits behind the mask do not count.", text: "10.1.2.3/8", want: "10.0.0.0/8"},
		"Address": {reason: "A single address is a range.", text: "::1", want: "::1/128"},
		"Name":    {reason: "A name has no fixed address.", text: "localhost", err: true},
		"Mapped":  {reason: "A mapped range would contain no address, because addresses are compared unmapped.", text: "::ffff:10.0.0.0/104", err: true},
		"Zone":    {reason: "A range with a zone would contain no address.", text: "fe80::1%eth0", err: true},
		"Empty":   {reason: "An empty range is an error, not all addresses.", err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseRanges([]string{tc.text})
			if (err != nil) != tc.err {
				t.Fatalf("%s\nParseRanges(%q): %v", tc.reason, tc.text, err)
			}
			if err == nil && got[0].String() != tc.want {
				t.Errorf("%s\nParseRanges(%q): want %s, got %s", tc.reason, tc.text, tc.want, got[0])
			}
		})
	}
}
