// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
)

func TestConcludeFindings(t *testing.T) {
	type want struct {
		Phase   Phase
		Message string
		Works   bool
	}
	cases := map[string]struct {
		reason   string
		findings []finding
		want     want
	}{
		"None":    {reason: "A part without findings is ready.", want: want{Phase: PhaseReady}},
		"Missing": {reason: "A ready part can have a message.", findings: []finding{{PhaseMissing, "1"}, {PhaseMissing, "2"}}, want: want{Phase: PhaseMissing, Message: "1"}},
		"First":   {reason: "The first of equally urgent findings counts.", findings: []finding{{PhaseFailed, "1"}, {PhaseUnhealthy, "2"}}, want: want{Phase: PhaseFailed, Message: "1"}},
		"Urgent": {
			reason:   "The most urgent finding counts.",
			findings: []finding{{PhaseMissing, "0"}, {PhaseApplying, "1"}, {PhaseChanged, "2"}, {PhaseUnhealthy, "3"}, {PhaseTerminating, "4"}, {PhaseFailed, "5"}},
			want:     want{Phase: PhaseTerminating, Message: "4"},
		},
		"Works":   {reason: "Objects that other clients changed may still work.", findings: []finding{{PhaseMissing, "1"}, {PhaseChanged, "2"}, {PhaseCeded, "3"}}, want: want{Phase: PhaseChanged, Message: "2", Works: true}},
		"Broken":  {reason: "A missing object does not work.", findings: []finding{{PhaseChanged, "1"}, {PhaseBroken, "2"}}, want: want{Phase: PhaseChanged, Message: "1"}},
		"Unready": {reason: "An object that is not ready does not work.", findings: []finding{{PhaseProgressing, "1"}, {PhaseCeded, "2"}}, want: want{Phase: PhaseCeded, Message: "2"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := conclude(tc.findings)
			if diff := cmp.Diff(tc.want, want{Phase: f.phase, Message: f.message, Works: works(tc.findings)}); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStateOfPhase(t *testing.T) {
	for p, s := range states {
		if !s.Valid() {
			t.Errorf("phase %s has the state %q", p, s)
		}
	}
	for _, s := range []health.State{health.Ready, health.Processing, health.Warning, health.Error, health.Deleting} {
		if got := phaseOf(s).State(); got != s {
			t.Errorf("phaseOf(%s) has the state %s", s, got)
		}
	}
}

func TestConclude(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     Observation
		want   string
	}{
		"Urgent": {
			reason: "The first of the most urgent parts counts.",
			in: Observation{State: health.Ready, Parts: []PartState{
				{Install: "a", State: health.Processing, Message: "1"}, {Install: "b", State: health.Error, Message: "2"},
				{Install: "c", State: health.Error, Message: "3"}, {Install: "d", State: health.Warning, Message: "4"},
			}},
			want: "Error b: 2",
		},
		"Leaving": {
			reason: "The part that is being removed takes precedence.",
			in:     Observation{State: health.Processing, Message: "old: is being removed", Parts: []PartState{{Install: "a", State: health.Processing, Message: "1"}}},
			want:   "Processing old: is being removed",
		},
		"Ready": {
			reason: "The message of a ready part is reported.",
			in:     Observation{State: health.Ready, Parts: []PartState{{Install: "a", State: health.Ready}, {Install: "b", State: health.Ready, Message: "1"}}},
			want:   "Ready b: 1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.in.conclude()
			if diff := cmp.Diff(tc.want, string(tc.in.State)+" "+tc.in.Message); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
