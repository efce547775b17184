// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"net/http"
	"testing"

	"k8s.io/client-go/rest"
)

func TestIdentity(t *testing.T) {
	base := func() *rest.Config {
		return &rest.Config{Host: "https://example.org/a", BearerToken: "t", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca")}}
	}
	cases := map[string]struct {
		reason string
		change func(rc *rest.Config)
		same   bool
	}{
		"Same":     {reason: "Equal settings lead to one cluster.", change: func(*rest.Config) {}, same: true},
		"Token":    {reason: "A renewed token leads to the same cluster.", change: func(rc *rest.Config) { rc.BearerToken = "u" }, same: true},
		"User":     {reason: "A renewed client certificate leads to the same cluster.", change: func(rc *rest.Config) { rc.CertData = []byte("c") }, same: true},
		"CA":       {reason: "Another certificate authority can lead to another cluster.", change: func(rc *rest.Config) { rc.CAData = []byte("other") }},
		"Name":     {reason: "Another server name can lead to another cluster.", change: func(rc *rest.Config) { rc.ServerName = "other" }},
		"Path":     {reason: "Another path can lead to another cluster behind a gateway.", change: func(rc *rest.Config) { rc.Host = "https://example.org/b" }},
		"Insecure": {reason: "Without verification, the server can be another cluster.", change: func(rc *rest.Config) { rc.Insecure, rc.CAData = true, nil }},
		"Plain":    {reason: "Without TLS, the server can be another cluster.", change: func(rc *rest.Config) { rc.Host = "http://example.org/a" }},
		"Own":      {reason: "A custom transport can lead to another cluster.", change: func(rc *rest.Config) { rc.Transport = http.DefaultTransport }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rc := base()
			tc.change(rc)
			host := "https://example.org"
			if name == "Plain" {
				host = "http://example.org"
			}
			got := identityOf(rc, host)
			if same := got == identityOf(base(), "https://example.org"); same != tc.same {
				t.Errorf("%s same: want %t, got %t", tc.reason, tc.same, same)
			}
			if again := got == identityOf(rc, host); again != (name != "Insecure" && name != "Plain" && name != "Own") {
				t.Errorf("%s again: %t", tc.reason, again)
			}
		})
	}
}
