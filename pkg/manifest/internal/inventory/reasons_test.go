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
	stuck := Part{Run: &Run{Inputs: "1", Retry: "r", Recorded: true, Failed: "hook failed", Over: true}}
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
		"None":  {reason: "A completed step has no reasons.", inv: Inventory{Last: &Reasons{Waiting: "old"}}},
		"New":   {reason: "The reasons are those of the step, without secret values.", inv: Inventory{Last: &Reasons{Waiting: "old"}}, why: Reasons{Waiting: "hunter2"}, want: &Reasons{Waiting: "REDACTED"}},
		"Same":  {reason: "The measures are those of the current step.", inv: Inventory{Last: &Reasons{Waiting: "0 of 2 replicas"}}, why: Reasons{Waiting: "1 of 2 replicas"}, want: &Reasons{Waiting: "1 of 2 replicas"}},
		"Stuck": {reason: "The recorded run of a hook says why the part failed.", inv: Inventory{Parts: map[object.PartID]Part{"web": stuck}}, why: failed("hook failed"), retry: "r"},
		"Retry": {reason: "The recorded run does not count if a retry is requested.", inv: Inventory{Parts: map[object.PartID]Part{"web": stuck}}, why: failed("no disk"), retry: "s", want: &Reasons{Failed: failed("no disk").Failed}},
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

func TestSameReasons(t *testing.T) {
	failed := func(digest, message string) *Reasons {
		return &Reasons{Failed: map[object.PartID]Failure{"web": {Digest: digest, Message: message}}}
	}
	cases := map[string]struct {
		reason string
		a, b   *Reasons
		want   bool
	}{
		"None":    {reason: "Neither has reasons.", want: true},
		"New":     {reason: "Only the first has a reason.", a: &Reasons{Waiting: "x"}},
		"Gone":    {reason: "Only the second has a reason.", b: &Reasons{Waiting: "x"}},
		"Equal":   {reason: "The failure is the same.", a: failed("1", "no disk"), b: failed("1", "no disk"), want: true},
		"Text":    {reason: "The failure differs.", a: failed("1", "no disk"), b: failed("1", "no memory")},
		"Pruning": {reason: "A different deletion is refused.", a: &Reasons{Pruning: "x"}, b: &Reasons{Pruning: "y"}},
		"Digest":  {reason: "The inputs that failed differ.", a: failed("1", "no disk"), b: failed("2", "no disk")},
		"Part":    {reason: "A different part failed.", a: failed("1", "no disk"), b: &Reasons{Failed: map[object.PartID]Failure{"api": {Digest: "1", Message: "no disk"}}}},
		"Held":    {reason: "A different part is held.", a: &Reasons{Held: map[object.PartID]string{"a": "x"}}, b: &Reasons{Held: map[object.PartID]string{"b": "x"}}},
		"Digits":  {reason: "Ports differ every time.", a: failed("1", "read udp 10.0.0.1:4711: i/o timeout"), b: failed("1", "read udp 10.0.0.1:4712: i/o timeout"), want: true},
		"Counted": {reason: "A counter is not worth a write.", a: &Reasons{Waiting: "0 of 2 replicas"}, b: &Reasons{Waiting: "1 of 2 replicas"}, want: true},
		"Digits6": {reason: "Ports of IPv6 addresses differ every time, too.", a: failed("1", "read udp [fd00::1]:4711->[fd00::a]:53: i/o timeout"), b: failed("1", "read udp [fd00::1]:4712->[fd00::a]:53: i/o timeout"), want: true},
		"Port":    {reason: "Ports after an arrow differ every time, too.", a: failed("1", "read tcp 10.0.0.1:4711->10.0.0.2:443: i/o timeout"), b: failed("1", "read tcp 10.0.0.1:4712->10.0.0.2:443: i/o timeout"), want: true},
		"Ratio":   {reason: "A count of several is not worth a write.", a: &Reasons{Waiting: "hooks (1/2) ran, 50%"}, b: &Reasons{Waiting: "hooks (2/2) ran, 100%"}, want: true},
		"Time":    {reason: "A time is not worth a write.", a: &Reasons{Waiting: "since 2026-01-02T03:04:05Z, retry in 1m5s."}, b: &Reasons{Waiting: "since 2026-01-02T03:05:10Z, retry in 10s."}, want: true},
		"Install": {
			reason: "It waits for a different install.",
			a:      &Reasons{Held: map[object.PartID]string{"db": "waits for install web1: x"}}, b: &Reasons{Held: map[object.PartID]string{"db": "waits for install web2: x"}},
		},
		"Object":  {reason: "It waits for a different object.", a: &Reasons{Waiting: "Job apps/migrate-1: is running"}, b: &Reasons{Waiting: "Job apps/migrate-2: is running"}},
		"Version": {reason: "The failure names a different version of the chart.", a: failed("1", "chart web v1.2.3 is missing"), b: failed("1", "chart web v1.2.4 is missing")},
		"Host":    {reason: "The host differs, regardless of its port.", a: failed("1", "dial tcp: lookup node1:53"), b: failed("1", "dial tcp: lookup node2:53")},
		"Longer":  {reason: "The text has more words.", a: &Reasons{Waiting: "waits 1"}, b: &Reasons{Waiting: "waits 1 more"}},
		"Word":    {reason: "A word is not a number.", a: &Reasons{Waiting: "waits 1"}, b: &Reasons{Waiting: "waits long"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.a.Same(tc.b); got != tc.want {
				t.Errorf("\n%s\nwant %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
