// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"strings"
	"testing"
)

// TestExceptToken checks which kubeconfigs differ only in their token from the first one.
func TestExceptToken(t *testing.T) {
	cert, key := pair(t)
	of := func(t *testing.T, cluster, user string) string {
		t.Helper()
		k, err := Parse([]byte(config(cluster, user)), Options{AllowFiles: true, AllowExec: true})
		if err != nil {
			t.Fatal(err)
		}
		return k.ExceptToken
	}
	const (
		same      = "same"
		different = "different"
		none      = "none"
	)
	first := of(t, server, token)
	if first == "" || strings.Contains(first, canary) {
		t.Fatalf("want a hash, got %q", first)
	}
	cases := map[string]struct {
		reason        string
		cluster, user string
		want          string
	}{
		"Same":         {reason: "Nothing differs.", cluster: server, user: token, want: same},
		"Token":        {reason: "Only the token differs.", cluster: server, user: "token: other", want: same},
		"Extension":    {reason: "Extensions don't concern the connection.", cluster: server, user: token + ", extensions: [{name: x, extension: {at: now}}]", want: same},
		"Server":       {reason: "It is another server.", cluster: "server: 'https://other.example.org:6443'", user: token, want: different},
		"CA":           {reason: "It is verified with another certificate.", cluster: server + ", certificate-authority-data: " + cert, user: token, want: different},
		"ServerName":   {reason: "It is verified with another name.", cluster: server + ", tls-server-name: x", user: token, want: different},
		"Insecure":     {reason: "It isn't verified.", cluster: server + ", insecure-skip-tls-verify: true", user: token, want: different},
		"Proxy":        {reason: "It is behind a proxy.", cluster: server + ", proxy-url: 'https://p.example.org'", user: token, want: different},
		"Compression":  {reason: "Responses aren't compressed.", cluster: server + ", disable-compression: true", user: token, want: different},
		"Impersonate":  {reason: "Another user is impersonated.", cluster: server, user: token + ", as: x", want: different},
		"Groups":       {reason: "Another group is impersonated.", cluster: server, user: token + ", as: x, as-groups: [g]", want: different},
		"Certificate":  {reason: "A certificate belongs to the network connection.", cluster: server, user: token + ", client-certificate-data: " + cert + ", client-key-data: " + key, want: none},
		"NoToken":      {reason: "The user authenticates with a client certificate.", cluster: server, user: "client-certificate-data: " + cert + ", client-key-data: " + key, want: none},
		"TokenFile":    {reason: "The file has precedence.", cluster: server, user: token + ", tokenFile: /x", want: none},
		"Password":     {reason: "A password isn't a token.", cluster: server, user: "username: x, password: p", want: none},
		"Exec":         {reason: "A program returns the token.", cluster: server, user: token + ", exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Never}", want: none},
		"AuthProvider": {reason: "A program returns the token.", cluster: server, user: token + ", auth-provider: {name: x}", want: none},
		"CAFile":       {reason: "The file can change.", cluster: server + ", certificate-authority: /x", user: token, want: none},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := different
			switch of(t, tc.cluster, tc.user) {
			case first:
				got = same
			case "":
				got = none
			}
			if got != tc.want {
				t.Errorf("\n%s\nParse(...).ExceptToken: want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
