// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

func TestCheckerOf(t *testing.T) {
	cases := map[string]struct {
		reason                  string
		enabled                 bool
		policies                xpv2.ManagementPolicies
		updates, paused, refuse bool
	}{
		"Default":  {reason: "The default allows everything.", enabled: true, policies: xpv2.ManagementPolicies{"*"}, updates: true},
		"Observe":  {reason: "Other policies are what they say.", enabled: true, policies: xpv2.ManagementPolicies{"Observe"}},
		"None":     {reason: "No policies pause the object.", enabled: true, policies: xpv2.ManagementPolicies{}, paused: true},
		"Disabled": {reason: "Without the feature, the object is never paused.", policies: xpv2.ManagementPolicies{}, updates: true},
		"Refused":  {reason: "Without the feature, only the default is valid.", policies: xpv2.ManagementPolicies{"Observe"}, updates: true, refuse: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := CheckerOf(tc.enabled, tc.policies)
			if got := c.ShouldUpdate(); got != tc.updates {
				t.Errorf("%s\nShouldUpdate(): want %t, got %t", tc.reason, tc.updates, got)
			}
			if got := c.IsPaused(); got != tc.paused {
				t.Errorf("%s\nIsPaused(): want %t, got %t", tc.reason, tc.paused, got)
			}
			if err := c.Validate(); (err != nil) != tc.refuse {
				t.Errorf("%s\nValidate(): want an error: %t, got %v", tc.reason, tc.refuse, err)
			}
		})
	}
	defaults := cases["Default"].policies
	if n := testing.AllocsPerRun(100, func() { CheckerOf(true, defaults) }); n > 0 {
		t.Errorf("want no allocation for the default, got %v", n)
	}
}
