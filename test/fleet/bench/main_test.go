// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/phase"
	"github.com/crossplane-contrib/provider-kyma/test/fleet/bench/report"
)

func TestChosen(t *testing.T) {
	cases := map[string]struct {
		reason, names string
		real          bool
		want          string
		err           string
	}{
		"Some":    {reason: "The order is that of the list.", names: "restart,idle", want: "empty connect create idle restart"},
		"Always":  {reason: "A phase that is always played can be named.", names: "create", want: "empty connect create"},
		"Real":    {reason: "Real clusters can be restarted.", names: "restart", real: true, want: "empty connect create restart"},
		"Faulty":  {reason: "Real clusters cannot fail.", names: "fault-429-1%", real: true, err: `no phase "fault-429-1%"`},
		"Unknown": {reason: "A typing error does not skip a phase.", names: "idel", err: `no phase "idel"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			steps, err := chosen(tc.names, tc.real)
			if err != nil {
				if tc.err == "" || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s\nwant the error %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if got := strings.Join(names(steps), " "); got != tc.want || tc.err != "" {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
	steps, err := chosen("", false)
	if err != nil || !slices.Equal(names(steps), names(phase.All())) {
		t.Errorf("by default, all phases are played, not %v: %v", names(steps), err)
	}
}

// TestCheck checks that the gate names the budgets that it did not check.
func TestCheck(t *testing.T) {
	budgets := []report.Budget{{Name: "x", Phase: report.Idle, Most: 2, Of: func(r *report.Result) *float64 { return r.IdleWrites }}}
	type want struct{ Printed, Err string }
	cases := map[string]struct {
		reason string
		result report.Result
		want   want
	}{
		"Within":   {reason: "There is nothing to print.", result: report.Result{IdleWrites: new(2.0), Phases: []report.Phase{{Name: report.Idle}}}},
		"Unplayed": {reason: "The gate passes, and says what it means.", want: want{Printed: "bench-fleet: budget not checked: x: phase idle was not played\n"}},
		"Over": {
			reason: "The gate fails.", result: report.Result{IdleWrites: new(3.0), Phases: []report.Phase{{Name: report.Idle}}},
			want: want{Err: "over the budget: x is 3, and may be 2"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, got := &strings.Builder{}, want{}
			if err := check(out, &tc.result, budgets); err != nil {
				got.Err = err.Error()
			}
			got.Printed = out.String()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func names(steps []phase.Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Name)
	}
	return out
}
