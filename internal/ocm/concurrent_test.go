// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"sync"
	"testing"
)

// TestConcurrent checks, with the race detector, that a descriptor can be shared.
func TestConcurrent(t *testing.T) {
	all, keys := family(t), []Key{keyOf(t, signedBy, ours())}
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			if _, err := Verify(all, keys); err != nil {
				t.Error(err)
			}
			if _, err := Sign(all[0], "other", ours()); err != nil {
				t.Error(err)
			}
			if _, err := all[0].Normalised(); err != nil {
				t.Error(err)
			}
			_, _ = all[0].Location()
			all[0].Resources()[0].Digest.Value = "mine"
			all[0].JSON()[0] = 'x'
		})
	}
	g.Wait()
}
