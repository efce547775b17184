// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"net/netip"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
)

func parse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestReferredBy checks which hosts in an index count as hosts that the config names, and to which hosts these can refer.
func TestReferredBy(t *testing.T) {
	type args struct {
		regs Registries
		from string // The chart repository, or empty.
		to   string // A URL in its index.
		next string // host[:port] to which the server of this URL refers.
	}
	type want struct {
		referred bool
		// next reports whether next can be in a private network.
		next bool
	}
	open := Registries{{Host: "*", PlainHTTP: true, TokenHosts: []string{"tokens.example.org"}}}
	listed := Registries{{Host: "*"}, {Host: "listed.example.org"}, {Host: "plain.example.org:5000", PlainHTTP: true}}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Same":          {reason: "The repository is on the same server.", args: args{from: "https://a.example.org/charts", to: "https://a.example.org/a.tgz", next: "a.example.org"}, want: want{next: true}},
		"SamePort":      {reason: "The default port can be written.", args: args{from: "https://a.example.org", to: "https://A.example.org:443/a.tgz", next: "a.example.org:443"}, want: want{next: true}},
		"SamePlain":     {reason: "The default port of HTTP can be written.", args: args{regs: open, from: "http://a.example.org", to: "http://a.example.org:80/a.tgz", next: "a.example.org"}, want: want{next: true}},
		"OtherScheme":   {reason: "HTTP and HTTPS have different ports.", args: args{regs: open, from: "https://a.example.org", to: "http://a.example.org/a.tgz", next: "a.example.org"}, want: want{referred: true}},
		"OtherPort":     {reason: "The port belongs to the host.", args: args{from: "https://a.example.org", to: "https://a.example.org:8443/a.tgz", next: "a.example.org:8443"}, want: want{referred: true}},
		"OtherHost":     {reason: "The index names another host, which can't refer to its own private address.", args: args{from: "https://a.example.org", to: "https://b.example.org/a.tgz", next: "b.example.org"}, want: want{referred: true}},
		"Back":          {reason: "A host in the index cannot refer back to the repository.", args: args{from: "https://a.example.org", to: "https://b.example.org/a.tgz", next: "a.example.org"}, want: want{referred: true}},
		"Tokens":        {reason: "A token service isn't in the list.", args: args{regs: open, from: "http://a.example.org", to: "http://b.example.org/a.tgz", next: "tokens.example.org"}, want: want{referred: true}},
		"OwnTokens":     {reason: "The config names the token service of its own host.", args: args{regs: open, from: "http://a.example.org", to: "http://a.example.org/a.tgz", next: "tokens.example.org"}, want: want{next: true}},
		"Listed":        {reason: "The list contains the host.", args: args{regs: listed, from: "https://a.example.org", to: "https://LISTED.example.org:443/a.tgz", next: "listed.example.org"}, want: want{next: true}},
		"ListedPlain":   {reason: "The list contains the host and port.", args: args{regs: listed, from: "https://a.example.org", to: "http://plain.example.org:5000/a.tgz", next: "plain.example.org:5000"}, want: want{next: true}},
		"NextListed":    {reason: "A host in the index can refer to the list.", args: args{regs: listed, from: "https://a.example.org", to: "https://b.example.org/a.tgz", next: "listed.example.org"}, want: want{referred: true, next: true}},
		"Star":          {reason: "The entry for all hosts lists none.", args: args{regs: listed, from: "https://a.example.org", to: "https://*/a.tgz", next: "*"}, want: want{referred: true}},
		"OCI":           {reason: "A registry is another host, too.", args: args{from: "https://a.example.org", to: "oci://b.example.org/a", next: "b.example.org"}, want: want{referred: true}},
		"OCISame":       {reason: "The repository is also a registry.", args: args{from: "https://a.example.org", to: "oci://a.example.org/a", next: "a.example.org"}, want: want{next: true}},
		"OCIEither":     {reason: "A registry that can use HTTP has no default port.", args: args{from: "https://localhost", to: "oci://localhost/a", next: "localhost"}, want: want{referred: true}},
		"OCIEitherPort": {reason: "The port is written.", args: args{from: "http://localhost:5000", to: "oci://localhost:5000/a", next: "localhost:5000"}, want: want{next: true}},
		"Unknown":       {reason: "Without a repository, the restrictions apply.", args: args{to: "https://a.example.org/a.tgz", next: "a.example.org"}, want: want{referred: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var from *url.URL
			if tc.args.from != "" {
				from = parse(t, tc.args.from)
			}
			before, after := referredBy(t, tc.args.regs, from, tc.args.to)
			p := NewPool("test", 1, netguard.New(netguard.Options{}))
			defer p.Close()
			w, err := p.wire(after)
			if err != nil {
				t.Fatal(err)
			}
			got := want{referred: after.referred, next: w.dialerFor(tc.args.next).Check(netip.MustParseAddr("192.168.1.1")) == nil}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nReferredBy(...): -want, +got:\n%s", tc.reason, diff)
			}
			same := []bool{before.server == after.server, before.wire == after.wire, before.caller == after.caller}
			if diff := cmp.Diff([]bool{true, !tc.want.referred, !tc.want.referred}, same); diff != "" {
				t.Errorf("\n%s\nReferredBy(...): whether the server, the connections and the caller are the same: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// referredBy returns the endpoint of a URL, as if a config named it and as it is in the index of a repository.
func referredBy(t *testing.T, regs Registries, from *url.URL, to string) (before, after *endpoint) {
	t.Helper()
	u := parse(t, to)
	if u.Scheme == "oci" {
		r, err := regs.Repository(to)
		if err != nil {
			t.Fatal(err)
		}
		return r.endpoint, r.ReferredBy(from).endpoint
	}
	s, err := regs.HTTPEndpoint(u)
	if err != nil {
		t.Fatal(err)
	}
	return s.endpoint, s.ReferredBy(from).endpoint
}
