// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/target/slots"
)

// TestSlots checks that the first list of a kind waits for a slot, and releases it.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, shared := newFake(), slots.New(1)
		c := New(server, mapping, fakeInterpreter{}, WithSlots(shared))
		defer c.Close()
		release, _ := shared.NewLine(1).Take(t.Context(), time.Hour)
		if err := track(t, c, secrets); err == nil || len(server.asked()) > 0 {
			t.Errorf("want no request without a slot, got %v", err)
		}
		release()
		if err := track(t, c, secrets); err != nil || shared.Free() != 1 {
			t.Errorf("want a list that returns its slot, got %v and %d slots", err, shared.Free())
		}
	})
}
