// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

const (
	user     = ocitest.User
	password = ocitest.Password
)

func newClient(tb testing.TB, o ...Option) *Client {
	tb.Helper()
	ocitest.Isolate(tb)
	c, err := New(o...)
	if err != nil {
		tb.Fatal(err)
	}
	c.pool.Pauses = []time.Duration{time.Millisecond, time.Millisecond}
	tb.Cleanup(c.Close)
	return c
}

// text returns the text of err, or "".
func text(err error) string { return ocitest.Text(err) }
