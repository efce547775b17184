// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// TestCertificates checks that each cluster has an authority and a certificate of its own: a client of many clusters can share neither.
func TestCertificates(t *testing.T) {
	s := startServer(t, "a", "b")
	cases := map[string]struct {
		reason string
		config func(c *rest.Config)
		// want is the name in the certificate of the server, or empty if it is not trusted.
		want string
	}{
		"Own":   {reason: "The kubeconfig has the authority of the cluster.", config: func(*rest.Config) {}, want: "a.fleet.test"},
		"Other": {reason: "It is not the authority of another cluster.", config: func(c *rest.Config) { c.CAData = s.Config("b").CAData }},
		"Name":  {reason: "The certificate of another cluster has another authority.", config: func(c *rest.Config) { c.ServerName = "b.fleet.test" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config, err := clientcmd.RESTConfigFromKubeConfig(s.Kubeconfig("a"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(config.CAData, s.Config("a").CAData) {
				t.Error("the REST config and the kubeconfig have different authorities")
			}
			tc.config(config)
			if diff := cmp.Diff(tc.want, certificateOf(t, config)); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// certificateOf returns the name in the certificate of the server, or an empty string if the client does not trust it.
func certificateOf(t *testing.T, config *rest.Config) string {
	t.Helper()
	u := userOf(t, config)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.host+"/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := u.Do(r)
	if err != nil {
		t.Log(err)
		return ""
	}
	defer resp.Body.Close()
	return resp.TLS.PeerCertificates[0].DNSNames[0]
}
