// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestBeginTests(t *testing.T) {
	old := &inventory.Tests{Token: "t", Part: "web", Run: &inventory.Run{ID: "r"}, Tests: []inventory.TestRecord{{Part: "web", Name: "a"}}}
	cases := map[string]struct {
		reason string
		old    *inventory.Tests
		token  string
		want   *inventory.Tests
	}{
		"First": {reason: "No tests have run yet.", token: "t", want: &inventory.Tests{Token: "t"}},
		"Same":  {reason: "The tests continue.", old: old, token: "t", want: old},
		"Other": {reason: "Another token starts the tests again.", old: old, token: "u", want: &inventory.Tests{Token: "u"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := BeginTests(tc.old, tc.token)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nBeginTests(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got.Run != nil {
				got.Run.ID, got.Tests[0].Name = "x", "x"
				if old.Run.ID != "r" || old.Tests[0].Name != "a" {
					t.Errorf("\n%s\nthe progress must be a copy", tc.reason)
				}
			}
		})
	}
}

func TestNextTests(t *testing.T) {
	parts := []Tested{{Part: "a"}, {Part: "b"}, {Part: "c"}}
	state := func(part string) inventory.TestRecord { return inventory.TestRecord{Part: object.PartOf(part)} }
	cases := map[string]struct {
		reason string
		tests  inventory.Tests
		want   string
		rest   []Tested
	}{
		"First":   {reason: "Testing starts with the first part.", want: "a", rest: parts[1:]},
		"Running": {reason: "A part with running tests continues.", tests: inventory.Tests{Part: "b", Tests: []inventory.TestRecord{state("a"), state("b")}}, want: "b", rest: parts[2:]},
		"Next":    {reason: "A part with recorded tests that are not running is over.", tests: inventory.Tests{Tests: []inventory.TestRecord{state("a"), state("b")}}, want: "c", rest: parts[3:]},
		"New":     {reason: "A part that was added before the running one is tested first.", tests: inventory.Tests{Part: "b", Tests: []inventory.TestRecord{state("b")}}, want: "a", rest: parts[1:]},
		"Over":    {reason: "After the last part, no part is left.", tests: inventory.Tests{Tests: []inventory.TestRecord{state("c"), state("b"), state("a")}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, rest := nextTests(&tc.tests, parts)
			got := ""
			if p != nil {
				got = p.Part.Install()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nnextTests(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.rest, rest, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nthe parts after it: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A testStage runs the tests of two parts, and holds the kept and the saved progress.
type testStage struct {
	*fakeStage

	tester Tester
	saved  *inventory.Tests
}

func newTestStage() *testStage {
	s := &testStage{fakeStage: newStage()}
	s.tester = Tester{
		Runner: s.Runner, Parts: []Tested{{Part: "a", Revision: 1, Timeout: time.Minute}, {Part: "empty"}, {Part: "b", Revision: 4, Timeout: time.Minute}},
		Prepare: func(_ context.Context, p *Tested, run *inventory.Run) ([]Hook, error) {
			if p.Part == "empty" {
				return nil, nil
			}
			if run.Event != "test" || run.Revision != p.Revision || run.Inputs != "now" {
				return nil, errors.Errorf("unexpected run %+v", run)
			}
			return []Hook{aHook("Job", p.Part.Install()+"1"), aHook("Job", p.Part.Install()+"2")}, nil
		},
		Save: func(_ context.Context, t *inventory.Tests) error {
			s.saved, s.log = t, append(s.log, "save "+t.Part.Install())
			return s.err
		},
	}
	return s
}

func TestTester(t *testing.T) {
	states := func(part string, states ...inventory.TestRecord) []inventory.TestRecord {
		for i := range states {
			states[i].Part, states[i].Name = object.PartOf(part), "Job a/"+part+string(rune('1'+i))
		}
		return states
	}
	ready, runs := inventory.TestRecord{State: health.Ready}, inventory.TestRecord{State: health.Processing}

	s := newTestStage()
	if got, err := s.tester.Advance(t.Context(), BeginTests(nil, "now")); err != nil || got.Progress != Passed {
		t.Errorf("all succeed: %v, %v", got, err)
	}
	want := &inventory.Tests{Token: "now", Over: true, Tests: append(states("a", ready, ready), states("b", ready, ready)...)}
	if diff := cmp.Diff(want, s.tester.Progress); diff != "" {
		t.Errorf("all succeed: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"save a", "create a1", "state a1", "save a", "create a2", "state a2", "save b", "create b1", "state b1", "save b", "create b2", "state b2",
	}, s.log); diff != "" {
		t.Errorf("requests and saves: -want, +got:\n%s", diff)
	}

	s = newTestStage()
	s.target.outcome = ""
	waits := Standing{Progress: Due, Message: "hook test Job a/a1 is running"}
	if got, err := s.tester.Advance(t.Context(), BeginTests(nil, "now")); err != nil || !cmp.Equal(waits, got) {
		t.Errorf("one runs: %v, %v", got, err)
	}
	if diff := cmp.Diff(states("a", runs, runs), s.tester.Progress.Tests); diff != "" || s.tester.Progress.Part != "a" || s.tester.Progress.Run.UID != "uid-1" || s.saved.Run.UID != "" {
		t.Errorf("the progress is kept, and saved at the end of the step: %+v, -want, +got:\n%s", s.tester.Progress, diff)
	}
	// It fails, and the tests of the other part still run.
	s.target.things[aHook("Job", "a1").Ref].outcome, s.target.outcome, s.log = "failed", succeeded, nil
	if got, err := s.tester.Advance(t.Context(), BeginTests(s.tester.Progress, "now")); err != nil || got.Progress != Passed {
		t.Errorf("one fails: %v, %v", got, err)
	}
	failed := inventory.TestRecord{State: health.Error, Message: "hook test Job a/a1 failed"}
	skipped := inventory.TestRecord{State: health.Error, Message: "skipped, because a previous test failed"}
	want.Tests = append(states("a", failed, skipped), states("b", ready, ready)...)
	if diff := cmp.Diff(want, s.tester.Progress); diff != "" {
		t.Errorf("one fails: -want, +got:\n%s", diff)
	}

	s = newTestStage()
	s.err = errors.New("conflict")
	if _, err := s.tester.Advance(t.Context(), BeginTests(nil, "now")); err == nil || err.Error() != "a: conflict" {
		t.Errorf("an error must name the part: %v", err)
	}
}
