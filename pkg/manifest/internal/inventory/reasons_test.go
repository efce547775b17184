// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

func TestReasonsToStore(t *testing.T) {
	redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "REDACTED") }
	long := strings.Repeat("ä", maxReason)
	cases := map[string]struct {
		reason string
		in     Reasons
		redact func(string) string
		want   *Reasons
	}{
		"None":    {reason: "Without reasons, nothing is stored.", in: Reasons{Failed: map[object.PartID]Failure{}, Held: map[object.PartID]string{}}},
		"Pruning": {reason: "A failed deletion is a reason.", in: Reasons{Pruning: "x"}, want: &Reasons{Pruning: "x"}},
		"Plain":   {reason: "Without a redact function, nothing is removed.", in: Reasons{Waiting: "hunter2"}, want: &Reasons{Waiting: "hunter2"}},
		"Secret": {
			reason: "Secret values are not stored.", redact: redact,
			in:   Reasons{Waiting: "a hunter2", Pruning: "e hunter2", Held: map[object.PartID]string{"b": "b hunter2"}, Failed: map[object.PartID]Failure{"c": {Digest: "d", Message: "c hunter2"}}},
			want: &Reasons{Waiting: "a REDACTED", Pruning: "e REDACTED", Held: map[object.PartID]string{"b": "b REDACTED"}, Failed: map[object.PartID]Failure{"c": {Digest: "d", Message: "c REDACTED"}}},
		},
		"Long":      {reason: "A reason is shortened and stays valid UTF-8.", in: Reasons{Waiting: long}, want: &Reasons{Waiting: long[:maxReason-4] + "…"}},
		"LastBytes": {reason: "Secret values are removed before the text is shortened.", redact: redact, in: Reasons{Waiting: strings.Repeat("x", maxReason-3) + "hunter2"}, want: &Reasons{Waiting: strings.Repeat("x", maxReason-3) + "…"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.in.ToStore(tc.redact)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConclude(t *testing.T) {
	hookFailed := Part{Run: &Run{Inputs: "1", Retry: "r", Recorded: true, Failed: "hook failed", Over: true}}
	failed := func(message string) Reasons {
		return Reasons{Failed: map[object.PartID]Failure{"web": {Digest: "1", Message: message}}}
	}
	cases := map[string]struct {
		reason string
		inv    Inventory
		why    Reasons
		retry  string
		want   *Reasons
	}{
		"None":       {reason: "A completed step has no reasons.", inv: Inventory{Last: &Reasons{Waiting: "old"}}},
		"New":        {reason: "The reasons are those of the step, without secret values.", inv: Inventory{Last: &Reasons{Waiting: "old"}}, why: Reasons{Waiting: "hunter2"}, want: &Reasons{Waiting: "REDACTED"}},
		"Count":      {reason: "The counts are those of the current step.", inv: Inventory{Last: &Reasons{Waiting: "0 of 2 replicas"}}, why: Reasons{Waiting: "1 of 2 replicas"}, want: &Reasons{Waiting: "1 of 2 replicas"}},
		"HookFailed": {reason: "The recorded run of a hook says why the part failed.", inv: Inventory{Parts: map[object.PartID]Part{"web": hookFailed}}, why: failed("hook failed"), retry: "r"},
		"Retry":      {reason: "The recorded run does not count if a retry is requested.", inv: Inventory{Parts: map[object.PartID]Part{"web": hookFailed}}, why: failed("no disk"), retry: "s", want: &Reasons{Failed: failed("no disk").Failed}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := tc.inv.Clone()
			got := Conclude(&tc.inv, tc.why, tc.retry, func(s string) string { return strings.ReplaceAll(s, "hunter2", "REDACTED") })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nConclude(...): -want, +got:\n%s", tc.reason, diff)
			}
			if !before.Equal(&tc.inv) {
				t.Errorf("\n%s\nConclude(...) changed the inventory: %+v", tc.reason, tc.inv)
			}
		})
	}
}

func TestReasons(t *testing.T) {
	failed := map[object.PartID]Failure{"web": {Digest: "1", Message: "no disk"}}
	held := map[object.PartID]string{"web": "waits for db"}
	type found struct {
		Reason string
		Found  bool
	}
	type want struct{ Failure, Wait, Prune found }
	cases := map[string]struct {
		reason string
		in     Reasons
		want   want
	}{
		"None":         {reason: "Nothing stopped the step."},
		"Failed":       {reason: "The part failed with these inputs.", in: Reasons{Failed: failed}, want: want{Failure: found{"no disk", true}}},
		"FailedBefore": {reason: "The part failed with other inputs.", in: Reasons{Failed: map[object.PartID]Failure{"web": {Digest: "0", Message: "no disk"}}}},
		"OtherFailed":  {reason: "Another part failed.", in: Reasons{Failed: map[object.PartID]Failure{"api": {Digest: "1", Message: "no disk"}}}},
		"Waiting":      {reason: "All parts wait.", in: Reasons{Waiting: "a CRD"}, want: want{Wait: found{"a CRD", true}}},
		"Held":         {reason: "What the part itself waits for takes precedence.", in: Reasons{Waiting: "a CRD", Held: held}, want: want{Wait: found{"waits for db", true}}},
		"OtherHeld":    {reason: "Another part is held.", in: Reasons{Held: map[object.PartID]string{"api": "waits for db"}}},
		"Pruning":      {reason: "Something cannot be deleted.", in: Reasons{Pruning: "forbidden"}, want: want{Prune: found{"forbidden", true}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got want
			f, ok := tc.in.Failure("web", "1")
			got.Failure = found{f.Message, ok}
			got.Wait.Reason, got.Wait.Found = tc.in.Wait("web")
			got.Prune.Reason, got.Prune.Found = tc.in.PruneFailure()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
