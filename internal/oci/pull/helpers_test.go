// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"net/netip"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/netguard"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

const (
	user     = ocitest.User
	password = ocitest.Password
)

func newClient(tb testing.TB, o ...Option) *Client {
	tb.Helper()
	ocitest.Isolate(tb)
	// Servers on this machine refer to each other.
	local := netguard.New(netguard.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	c, err := New(append([]Option{WithGuard(local)}, o...)...)
	if err != nil {
		tb.Fatal(err)
	}
	c.pool.Pauses = []time.Duration{time.Millisecond, time.Millisecond}
	tb.Cleanup(c.Close)
	return c
}

// text returns the text of err, or "".
func text(err error) string { return ocitest.Text(err) }
