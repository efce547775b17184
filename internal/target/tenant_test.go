// SPDX-License-Identifier: Apache-2.0

package target

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/kubernetes"

	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
)

// TestTenantOfMany checks that clusters of one namespace are read more slowly if they send too much together, although none of them does alone,
// and that clusters of administrators are not.
func TestTenantOfMany(t *testing.T) {
	const clusters, requests, size = 3, 12, 16 << 20
	loopback, err := netguard.ParseRanges([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason   string
		platform bool
		want     bool
	}{
		"Tenant":   {reason: "All of these clusters belong to one tenant.", want: true},
		"Platform": {reason: "An administrator chose these clusters.", platform: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, content := newAPIServer(t), make([]byte, size)
			s.instead = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }
			m := metrics.New(nil, version.Build{})
			p := NewPool(fakeInterpreter{}, WithMetrics(m), WithGuard(netguard.New(netguard.Options{Allow: loopback})))
			defer p.Close()
			for i := range clusters {
				creds := s.credentials("t"+strconv.Itoa(i), "")
				creds.platform, creds.namespace = tc.platform, "team-a"
				creds.Digest = digest(creds)
				c := must[*Cluster](t)(p.Get(strconv.Itoa(i), creds))
				for n := 0; n < requests && testutil.ToFloat64(m.TargetWaitSeconds) == 0; n++ {
					if _, err := kubernetes.NewForConfigOrDie(c.Config()).RESTClient().Get().AbsPath("/large").DoRaw(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got := testutil.ToFloat64(m.TargetWaitSeconds); (got > 0) != tc.want {
				t.Errorf("\n%s\nreads waited %g seconds", tc.reason, got)
			}
		})
	}
}
