// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
)

func TestBlockedBy(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     hook.Standing
		want   Blocked
	}{
		"Passed":  {reason: "Hooks that have run do not block the removal.", in: hook.Standing{Progress: hook.Passed}},
		"Error":   {reason: "The zero Standing that accompanies an error does not block the removal."},
		"Due":     {reason: "Running hooks are waited for.", in: hook.Standing{Progress: hook.Due, Message: "x is running"}, want: Blocked{State: health.Deleting, Message: "x is running"}},
		"Silent":  {reason: "Running hooks without a message are waited for, too.", in: hook.Standing{Progress: hook.Due}, want: Blocked{State: health.Deleting}},
		"Refused": {reason: "A user must fix a failed hook.", in: hook.Standing{Progress: hook.Refused, Message: "x failed"}, want: Blocked{State: health.Warning, Message: "x failed; fix the cause and request a retry, or force the removal"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := blockedBy(tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nblockedBy(...): -want, +got:\n%s", tc.reason, diff)
			}
			if want := tc.in.Progress == hook.Due || tc.in.Progress == hook.Refused; got.Waits() != want {
				t.Errorf("\n%s\nWaits(): want %v, got %v", tc.reason, want, got.Waits())
			}
		})
	}
}
