// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"sync"
	"testing"
)

// TestConcurrent holds, under the race detector, that a descriptor may be shared.
func TestConcurrent(t *testing.T) {
	all, keys := family(t), []Key{keyOf(t, signedBy, ours())}
	r := newRegistry()
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
			_, _, _, _ = Artifact(all[0], nil)
			_, _ = all[0].Location()
			_, _ = Collect(t.Context(), &fakeRegistry{manifests: r.manifests, blobs: r.blobs}, here(), all[0])
			all[0].Resources()[0].Digest.Value = "mine"
			all[0].JSON()[0] = 'x'
		})
	}
	g.Wait()
}
