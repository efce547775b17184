// SPDX-License-Identifier: Apache-2.0

package target

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
)

// TestTenantOfMany checks which clusters count for a namespace, and that they no longer do when they are not used anymore.
func TestTenantOfMany(t *testing.T) {
	const clusters = 3
	cases := map[string]struct {
		reason string
		change func(c *Credentials)
		want   int
	}{
		"Tenant":   {reason: "All of these clusters belong to one tenant.", change: func(*Credentials) {}, want: clusters},
		"Other":    {reason: "These clusters belong to another tenant.", change: func(c *Credentials) { c.namespace = "team-b" }},
		"Platform": {reason: "An administrator chose these clusters.", change: func(c *Credentials) { c.platform = true }},
		"Invalid": {
			reason: "A connection that cannot be opened does not count.",
			change: func(c *Credentials) {
				c.kubeconfig = append(c.kubeconfig[:len(c.kubeconfig)-len("}]}")], ", client-certificate-data: eA==}}]}"...)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			p := NewPool(fakeInterpreter{}, WithGuard(netguard.New(netguard.Options{})))
			defer p.Close()
			for i := range clusters {
				creds := s.credentials("t"+strconv.Itoa(i), "")
				creds.platform, creds.namespace = false, "team-a"
				tc.change(&creds)
				creds.Digest = digest(creds)
				if _, err := p.Get(strconv.Itoa(i), creds); (err != nil) != (name == "Invalid") {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, p.tenants.Clusters("team-a")); diff != "" {
				t.Errorf("\n%s\nclusters: -want, +got:\n%s", tc.reason, diff)
			}
			for i := range clusters {
				p.Forget(strconv.Itoa(i))
			}
			p.closing.Wait()
			if got := p.tenants.Clusters("team-a"); got != 0 {
				t.Errorf("\n%s\nafter they are forgotten, %d clusters count", tc.reason, got)
			}
		})
	}
}
