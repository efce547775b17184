// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

func TestReconciler(t *testing.T) {
	plain := Options{Options: controller.Options{Logger: logging.NewNopLogger(), Features: &feature.Flags{}}}
	full := plain
	full.Features = &feature.Flags{}
	full.Features.Enable(feature.EnableBetaManagementPolicies)
	full.ChangeLogOptions = &controller.ChangeLogOptions{}
	few := len(plain.Reconciler("x", event.NewNopRecorder()))
	if got := len(full.Reconciler("x", event.NewNopRecorder())); got != few+2 {
		t.Errorf("Reconciler(...): policies and change log are two options more than %d, got %d", few, got)
	}
}

func TestSpread(t *testing.T) {
	cases := map[string]struct {
		reason    string
		share     float64
		low, high time.Duration
	}{
		"None": {reason: "Without a share nothing changes.", low: time.Minute, high: time.Minute},
		"Some": {reason: "It stays within the share.", share: 0.1, low: 54 * time.Second, high: 66 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 1000 {
				if got := Spread(time.Minute, tc.share); got < tc.low || got > tc.high {
					t.Fatalf("\n%s\nSpread(...): %s is not within %s and %s", tc.reason, got, tc.low, tc.high)
				}
			}
		})
	}
}
