// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRegistriesEndpoint(t *testing.T) {
	type want struct {
		host   string
		scheme scheme
		user   string
		err    string
	}
	config := []byte(`{"auths": {
		"https://index.docker.io/v1/": {"username": "hub", "password": "p"},
		"reg.example.org": {"username": "host", "password": "p"},
		"reg.example.org/team": {"username": "team", "password": "p"},
		"http://reg.example.org/team/sub/": {"username": "sub", "password": "p"}},
		"credsStore": "never-executed"}`)
	listed := Registries{
		{Host: "REG.example.org:443", DockerConfig: config},
		{Host: "docker.io", DockerConfig: config},
		{Host: "plain.example.org:5000", PlainHTTP: true, Username: "basic", Password: "p", DockerConfig: config},
		{Host: "localhost:5000"},
		{Host: "broken.example.org", DockerConfig: []byte(`{"auths": {"x": {"auth": "!"}}}`)},
	}
	open := Registries{{Host: "*", DockerConfig: config}, {Host: "mine.example.org", Username: "me", Password: "p"}, {Host: "localhost:5000", Username: "me", Password: "p"}}
	cases := map[string]struct {
		reason string
		regs   Registries
		host   string
		path   string
		want   want
	}{
		"AnyHost":       {reason: "Without a list, any host with TLS is allowed.", host: "any.example.org", want: want{host: "any.example.org"}},
		"AnyLoopback":   {reason: "Without a list, loopback may be plain.", host: "localhost:5000", want: want{host: "localhost:5000", scheme: schemeEither}},
		"AnyLoopback4":  {reason: "Plain HTTP is allowed for an IPv4 loopback address.", host: "127.0.0.1:5000", want: want{host: "127.0.0.1:5000", scheme: schemeEither}},
		"AnyLoopback6":  {reason: "Plain HTTP is allowed for an IPv6 loopback address.", host: "[::1]:5000", want: want{host: "[::1]:5000", scheme: schemeEither}},
		"AnyPrivate":    {reason: "A private address is not loopback.", host: "10.0.0.1:5000", want: want{host: "10.0.0.1:5000"}},
		"Loopback":      {reason: "With a list, plain HTTP has to be said.", regs: listed, host: "localhost:5000", want: want{host: "localhost:5000"}},
		"Host":          {reason: "Case and the default port do not matter.", regs: listed, host: "reg.example.org", path: "x", want: want{host: "reg.example.org", user: "host"}},
		"Path":          {reason: "The longest path wins.", regs: listed, host: "reg.example.org", path: "team/sub/x", want: want{host: "reg.example.org", user: "sub"}},
		"WholePath":     {reason: "Paths are compared by elements.", regs: listed, host: "reg.example.org", path: "team/subway", want: want{host: "reg.example.org", user: "team"}},
		"Hub":           {reason: "Docker Hub has several names.", regs: listed, host: "registry-1.docker.io", path: "x", want: want{host: "index.docker.io", user: "hub"}},
		"Basic":         {reason: "An explicit username takes precedence.", regs: listed, host: "plain.example.org:5000", want: want{host: "plain.example.org:5000", scheme: schemePlain, user: "basic"}},
		"OtherPort":     {reason: "The port belongs to the host.", regs: listed, host: "plain.example.org", want: want{err: `"plain.example.org" is not allowed`}},
		"NotListed":     {reason: "A list is complete.", regs: listed, host: "evil.example.org", want: want{err: `"evil.example.org" is not allowed`}},
		"Open":          {reason: "* is for all that is not listed.", regs: open, host: "reg.example.org", path: "team/x", want: want{host: "reg.example.org", user: "team"}},
		"OpenHub":       {reason: "* is for Docker Hub, too.", regs: open, host: "docker.io", path: "x", want: want{host: "index.docker.io", user: "hub"}},
		"OpenListed":    {reason: "A listed host takes precedence, regardless of its position.", regs: open, host: "mine.example.org", want: want{host: "mine.example.org", user: "me"}},
		"OpenLoopback":  {reason: "With *, loopback may be plain.", regs: open, host: "127.0.0.1:5000", want: want{host: "127.0.0.1:5000", scheme: schemeEither}},
		"OpenLocal":     {reason: "With *, loopback may be plain, even if it is listed.", regs: open, host: "localhost:5000", want: want{host: "localhost:5000", scheme: schemeEither, user: "me"}},
		"OpenPlain":     {reason: "With plainHTTP, TLS is never used.", regs: Registries{{Host: "*", PlainHTTP: true}}, host: "localhost:5000", want: want{host: "localhost:5000", scheme: schemePlain}},
		"Identity":      {reason: "An identity comes before what else is there.", regs: Registries{{Host: "h", Username: "x", Identity: fakeIdentity{}}}, host: "h", want: want{host: "h", user: "user of h"}},
		"PlainIdentity": {reason: "The credentials of an identity require TLS.", regs: Registries{{Host: "h", PlainHTTP: true, Identity: fakeIdentity{}}}, host: "h", want: want{err: "in plain text: use TLS"}},
		"Broken":        {reason: "A broken pull secret is named.", regs: listed, host: "broken.example.org", want: want{err: `pull secret of registry host "broken.example.org"`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, err := tc.regs.endpoint(tc.host, tc.path)
			if tc.want.err != "" {
				if !strings.Contains(text(err), tc.want.err) {
					t.Errorf("\n%s\nendpoint(...): error %q does not contain %q", tc.reason, text(err), tc.want.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\nendpoint(...): %v", tc.reason, err)
			}
			got := want{host: e.host, scheme: e.scheme}
			if e.auth != nil {
				c, err := e.auth.Authorization()
				if err != nil {
					t.Fatal(err)
				}
				got.user = c.Username
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nendpoint(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEndpointIdentity checks that endpoints with different settings have different identities.
func TestEndpointIdentity(t *testing.T) {
	all := []Registry{
		{Host: "h"},
		{Host: "h", PlainHTTP: true},
		{Host: "h", CABundle: []byte("x")},
		{Host: "h", Username: "a", Password: "bc"},
		{Host: "h", Username: "ab", Password: "c"},
		{Host: "h", DockerConfig: []byte(`{"auths":{"h":{"registrytoken":"a"}}}`)},
		{Host: "h", DockerConfig: []byte(`{"auths":{"h":{"identitytoken":"a"}}}`)},
		{Host: "h", Identity: fakeIdentity{name: "aws"}},
		{Host: "h", Identity: fakeIdentity{name: "gcp"}},
		{Host: "h", SkipTLSVerify: true},
		{Host: "h", SkipTLSVerify: true, CABundle: []byte("x")},
	}
	seen := map[string]int{}
	for i, r := range all {
		e, err := Registries{r}.endpoint("h", "p")
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := seen[e.caller]; ok {
			t.Errorf("endpoint(...): registries %d and %d have the same identity", j, i)
		}
		seen[e.caller] = i
	}
	for _, r := range []Registry{{Host: "*"}, {Host: "*", Username: "a", Password: "bc"}} {
		// Listed or not, this is the same caller at the same server.
		e, err := Registries{r}.endpoint("h", "p")
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := seen[e.caller]; !ok {
			t.Error("endpoint(...): * has another identity than the host")
		}
	}
	process, err := Registries(nil).endpoint("h", "p")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := seen[process.caller]; ok {
		t.Error("endpoint(...): the process has the identity of a tenant")
	}
	ambient, err := Registries{{Host: "h", Ambient: true}}.endpoint("h", "p")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := seen[ambient.caller]; ok {
		t.Error("endpoint(...): ambient credentials have the identity of a tenant")
	}
}

// TestHTTPEndpointPath checks that a chart repository gets the credentials of the narrowest key, as a registry does.
func TestHTTPEndpointPath(t *testing.T) {
	config := []byte(`{"auths": {
		"charts.example.org": {"username": "host", "password": "p"},
		"charts.example.org/team": {"username": "team", "password": "p"},
		"https://charts.example.org/team/sub/": {"username": "sub", "password": "p"}}}`)
	regs := Registries{{Host: "charts.example.org", DockerConfig: config}}
	for address, want := range map[string]string{
		"https://charts.example.org":                        "host",
		"https://charts.example.org/":                       "host",
		"https://charts.example.org/teams/index.yaml":       "host",
		"https://charts.example.org/team":                   "team",
		"https://charts.example.org/team/index.yaml":        "team",
		"https://charts.example.org/team/sub/web-1.0.0.tgz": "sub",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		s, err := regs.HTTPEndpoint(u)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.auth.Authorization()
		if err != nil {
			t.Fatal(err)
		}
		if got.Username != want {
			t.Errorf("HTTPEndpoint(%s): got the credentials of %q, want %q", address, got.Username, want)
		}
	}
}
