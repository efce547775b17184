// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/fuzztest"
)

var began = time.Unix(1_700_000_000, 0).UTC()

// status returns the status of an upgrade to a desired digest.
func status(desired string, rolledBack bool) *v1alpha1.RollbackStatus {
	return &v1alpha1.RollbackStatus{Desired: desired, Since: metav1.NewTime(began), Version: "1.0.0", RolledBack: rolledBack}
}

func TestStateOf(t *testing.T) {
	cases := map[State]*v1alpha1.RollbackStatus{None: nil, Watching: status("two", false), RolledBack: status("two", true)}
	for want, st := range cases {
		if got := StateOf(st); got != want {
			t.Errorf("StateOf(%+v): want %s, got %s", st, want, got)
		}
	}
}

// TestDecide covers all combinations of the three states, a checkpoint, and the desired digest. Each case also simulates a
// restart, because the status is the only state of the machine.
func TestDecide(t *testing.T) {
	failed, atomic := &Policy{After: time.Minute}, &Policy{After: 90 * time.Second, OnNotReady: true, Atomic: true}
	one, two := Checkpoint{Digest: "one", Version: "1.0.0"}, Checkpoint{Digest: "two", Version: "2.0.0"}
	later := began.Add(time.Hour)
	fresh := func(desired string) *v1alpha1.RollbackStatus {
		st := status(desired, false)
		st.Since = metav1.NewTime(later)
		return st
	}
	cases := map[string]struct {
		reason     string
		was        *v1alpha1.RollbackStatus
		policy     *Policy
		checkpoint Checkpoint
		token      string
		want       Decision
	}{
		"NoPolicyNone":       {reason: "Without a policy, nothing is rolled back.", checkpoint: one, want: Decision{Action: Install}},
		"NoPolicyWatching":   {reason: "A policy that is removed ends the wait.", was: status("two", false), checkpoint: one, want: Decision{Action: Install}},
		"NoPolicyRolledBack": {reason: "A policy that is removed ends a rollback.", was: status("two", true), checkpoint: one, want: Decision{Action: Install}},

		"FirstNone":       {reason: "A first install has nothing to go back to.", policy: failed, want: Decision{Action: InstallAndKeep}},
		"FirstWatching":   {reason: "Without a checkpoint nothing is watched.", policy: failed, was: status("two", false), want: Decision{Action: InstallAndKeep}},
		"FirstRolledBack": {reason: "Without a checkpoint no rollback continues.", policy: failed, was: status("two", true), want: Decision{Action: InstallAndKeep}},

		"ReadyNone":       {reason: "The revision that was Ready last is not watched.", policy: failed, checkpoint: two, want: Decision{Action: InstallAndKeep}},
		"ReadyWatching":   {reason: "A revision that became Ready is no longer watched.", policy: failed, checkpoint: two, was: status("two", false), want: Decision{Action: InstallAndKeep}},
		"ReadyRolledBack": {reason: "To want what was brought back ends the rollback.", policy: failed, checkpoint: two, was: status("three", true), want: Decision{Action: InstallAndKeep}},

		"UpgradeNone":       {reason: "Anything else is an upgrade.", policy: failed, checkpoint: one, want: Decision{Action: InstallAndKeep, Status: fresh("two")}},
		"UpgradeWatching":   {reason: "The wait continues.", policy: failed, checkpoint: one, was: status("two", false), want: Decision{Action: InstallAndKeep, Status: status("two", false)}},
		"UpgradeRolledBack": {reason: "The rollback continues.", policy: failed, checkpoint: one, was: status("two", true), want: Decision{Action: BringBack, Status: status("two", true)}},

		"NewerWatching":   {reason: "Another digest gets its own time.", policy: failed, checkpoint: one, was: status("other", false), want: Decision{Action: InstallAndKeep, Status: fresh("two")}},
		"NewerRolledBack": {reason: "Another digest ends a rollback.", policy: failed, checkpoint: one, was: status("other", true), want: Decision{Action: InstallAndKeep, Status: fresh("two")}},

		"RetryWatching":    {reason: "A request begins the time again.", policy: failed, checkpoint: one, was: status("two", false), token: "t", want: Decision{Action: InstallAndKeep, Status: fresh("two-t")}},
		"RetryRolledBack":  {reason: "A reconcile request starts another attempt.", policy: failed, checkpoint: one, was: status("two", true), token: "t", want: Decision{Action: InstallAndKeep, Status: fresh("two-t")}},
		"Retried":          {reason: "A retry token is used only once.", policy: failed, checkpoint: one, was: status("two-t", true), token: "t", want: Decision{Action: BringBack, Status: status("two-t", true)}},
		"RetryRemoved":     {reason: "An annotation that is removed asks for nothing.", policy: failed, checkpoint: one, was: status("two-t", true), want: Decision{Action: BringBack, Status: status("two-t", true)}},
		"AtomicUpgrade":    {reason: "The status remembers the time that an install asks for.", policy: atomic, checkpoint: one, want: Decision{Action: InstallAndKeep, Status: fresh("atomic90-two")}},
		"AtomicRetry":      {reason: "A reconcile request starts another attempt of an atomic upgrade.", policy: atomic, checkpoint: one, was: status("atomic90-two", true), token: "t", want: Decision{Action: InstallAndKeep, Status: fresh("atomic90-two-t")}},
		"AtomicWatching":   {reason: "The time is not part of what is desired.", policy: atomic, checkpoint: one, was: status("atomic30-two", false), want: Decision{Action: InstallAndKeep, Status: status("atomic30-two", false)}},
		"AtomicRolledBack": {reason: "A rollback that an install requests is performed, too.", policy: atomic, checkpoint: one, was: status("atomic90-two", true), want: Decision{Action: BringBack, Status: status("atomic90-two", true)}},
		"AtomicReady":      {reason: "Ready is Ready.", policy: atomic, checkpoint: two, was: status("atomic90-two", false), want: Decision{Action: InstallAndKeep}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := tc.was.DeepCopy()
			got := Decide(Input{
				Status: tc.was, Policy: tc.policy, Checkpoint: tc.checkpoint, Desired: Desired{Digest: "two", Token: tc.token}, Now: later,
			})
			tc.want.Policy = tc.policy
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nDecide(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.was); diff != "" || (got.Status != nil && got.Status == tc.was) {
				t.Errorf("\n%s\nDecide(...) must leave its input alone: -want, +got:\n%s", tc.reason, diff)
			}
			if got.Status == nil {
				return
			}
			again := Decide(Input{
				Status: got.Status, Policy: tc.policy, Checkpoint: tc.checkpoint, Desired: Desired{Digest: "two", Token: tc.token}, Now: later.Add(time.Hour),
			})
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("\n%s\nDecide(...) again, later: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEvaluate(t *testing.T) {
	failed, notReady := Policy{After: time.Minute}, Policy{After: time.Minute, OnNotReady: true}
	watching := func(message string) *v1alpha1.RollbackStatus {
		st := status("two", false)
		st.Message = message
		return st
	}
	back, moved, earlier := status("two", true), watching(""), status("two", true)
	back.Message, earlier.Message = "boom", "before"
	unnamed := earlier.DeepCopy()
	unnamed.Version = ""
	moved.Since = metav1.NewTime(began.Add(30 * time.Second))
	cases := map[string]struct {
		reason  string
		was     *v1alpha1.RollbackStatus
		policy  Policy
		outcome Outcome
		version string
		elapsed time.Duration
		want    *v1alpha1.RollbackStatus
	}{
		"None":             {reason: "Without an upgrade there is nothing to evaluate.", policy: notReady, outcome: Failed, elapsed: time.Hour},
		"RolledBack":       {reason: "A revision that was rolled back stays rolled back.", was: earlier, policy: failed, outcome: Ready, want: earlier},
		"Ready":            {reason: "An upgrade that works ends the wait.", was: watching("boom"), policy: failed, outcome: Ready, elapsed: time.Hour},
		"Failing":          {reason: "A revision that fails has until the timeout to recover.", was: watching(""), policy: failed, outcome: Failed, elapsed: 59 * time.Second, want: watching("boom")},
		"Failed":           {reason: "A revision that still fails at the timeout is rolled back.", was: watching("boom"), policy: failed, outcome: Failed, elapsed: time.Minute, want: back},
		"FailedLate":       {reason: "The time counts from when the upgrade began, not from the first failure.", was: watching(""), policy: failed, outcome: Failed, elapsed: time.Minute, want: back},
		"Progressing":      {reason: "A revision that is not Ready yet does not count as failed.", was: watching(""), policy: failed, outcome: NotReady, elapsed: time.Hour, want: watching("")},
		"Interrupted":      {reason: "The timeout restarts for a revision that recovered.", was: watching("boom"), policy: failed, outcome: NotReady, elapsed: 30 * time.Second, want: moved},
		"NotReady":         {reason: "With NotReady any other state counts.", was: watching("boom"), policy: notReady, outcome: NotReady, elapsed: time.Minute, want: back},
		"NotReadyYet":      {reason: "With NotReady, a revision has until the timeout to become Ready.", was: watching(""), policy: notReady, outcome: NotReady, elapsed: time.Second, want: watching("boom")},
		"NotReadyFailed":   {reason: "A failure is not Ready either.", was: watching(""), policy: notReady, outcome: Failed, elapsed: time.Minute, want: back},
		"NotReadyAndReady": {reason: "With NotReady, an upgrade that becomes Ready ends the wait.", was: watching("boom"), policy: notReady, outcome: Ready, elapsed: time.Hour},
		"Pending":          {reason: "A revision that is not applied yet does not fail.", was: watching(""), policy: notReady, outcome: Pending, elapsed: time.Hour, want: watching("")},
		"PendingFailed":    {reason: "A revision that is not applied yet does not recover.", was: watching("boom"), policy: failed, outcome: Pending, elapsed: time.Hour, want: watching("boom")},
		"NoVersion":        {reason: "A checkpoint that names no version gets the one that is seen.", was: unnamed, policy: failed, outcome: NotReady, version: "1.0.0", want: earlier},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := tc.was.DeepCopy()
			d := Decision{Action: InstallAndKeep, Status: tc.was, Policy: &tc.policy}
			if StateOf(tc.was) == RolledBack {
				d.Action = BringBack
			}
			got, begins := Evaluate(d, Observed{Outcome: tc.outcome, Message: "boom", Version: tc.version}, began.Add(tc.elapsed))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nEvaluate(...): -want, +got:\n%s", tc.reason, diff)
			}
			if want := StateOf(tc.was) == Watching && StateOf(tc.want) == RolledBack; begins != want {
				t.Errorf("\n%s\nEvaluate(...): want that a rollback begins %t, got %t", tc.reason, want, begins)
			}
			if diff := cmp.Diff(before, tc.was); diff != "" {
				t.Errorf("\n%s\nEvaluate(...) must leave its input alone: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	p := &Policy{After: time.Minute}
	cases := map[string]struct {
		st   *v1alpha1.RollbackStatus
		p    *Policy
		want time.Time
	}{
		"None": {p: p}, "NoPolicy": {st: status("two", false)}, "RolledBack": {st: status("two", true), p: p},
		"Watching": {st: status("two", false), p: p, want: began.Add(time.Minute)},
	}
	for name, tc := range cases {
		if got := Deadline(tc.st, tc.p); !got.Equal(tc.want) {
			t.Errorf("%s: Deadline(...): want %s, got %s", name, tc.want, got)
		}
	}
}

func TestText(t *testing.T) {
	cases := map[string]struct{ from, to, want string }{
		"Versions": {from: "2.0.0", to: "1.0.0", want: "rolled back to 1.0.0 because the upgrade to 2.0.0 failed: boom"},
		"NoFrom":   {to: "1.0.0", want: "rolled back to 1.0.0 because the upgrade failed: boom"},
		"NoTo":     {from: "2.0.0", want: "rolled back to the last known good revision because the change failed: boom"},
		"Same":     {from: "1.0.0", to: "1.0.0", want: "rolled back to the last known good revision because the change failed: boom"},
	}
	for name, tc := range cases {
		if got := Text(&v1alpha1.RollbackStatus{Version: tc.to, Message: "boom"}, tc.from); got != tc.want {
			t.Errorf("%s: Text(...): want %q, got %q", name, tc.want, got)
		}
	}
}

// TestPolicyOf checks that Atomic in an install has the same effect as in Helm: an upgrade that is not Ready in time is rolled
// back.
func TestPolicyOf(t *testing.T) {
	own := &v1alpha1.Rollback{Trigger: v1alpha1.RollbackTriggerFailed, After: metav1.Duration{Duration: time.Hour}}
	notReady := &v1alpha1.Rollback{Trigger: v1alpha1.RollbackTriggerNotReady, After: metav1.Duration{Duration: time.Hour}}
	withoutTrigger := &v1alpha1.Rollback{After: metav1.Duration{Duration: time.Hour}}
	cases := map[string]struct {
		reason string
		own    *v1alpha1.Rollback
		st     *v1alpha1.RollbackStatus
		atomic time.Duration
		want   *Policy
	}{
		"None":     {reason: "Nothing asks for it.", st: status("two", false)},
		"Own":      {reason: "The spec of the Manifest takes precedence.", own: own, atomic: time.Minute, want: &Policy{After: time.Hour}},
		"NotReady": {reason: "The trigger NotReady also covers upgrades that did not fail.", own: notReady, want: &Policy{After: time.Hour, OnNotReady: true}},
		"Default":  {reason: "Without a trigger, only a failed upgrade counts.", own: withoutTrigger, want: &Policy{After: time.Hour}},
		"Atomic":   {reason: "An install has its own time.", atomic: time.Minute, want: &Policy{After: time.Minute, OnNotReady: true, Atomic: true}},
		"Status":   {reason: "After a rollback, the policy comes from the status, not from the restored content.", st: status("atomic90-two", true), want: &Policy{After: 90 * time.Second, OnNotReady: true, Atomic: true}},
		"Both":     {reason: "The time of the upgrade counts, not that of what is there.", st: status("atomic90-two", true), atomic: time.Minute, want: &Policy{After: 90 * time.Second, OnNotReady: true, Atomic: true}},
		"Other":    {reason: "A digest is not a time.", st: status("atomicity-two", false)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, PolicyOf(tc.own, tc.st, tc.atomic)); diff != "" {
				t.Errorf("\n%s\nPolicyOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDesired checks the texts in statuses, because an upgrade of the provider must not end a rollback.
func TestDesired(t *testing.T) {
	for text, want := range map[string]Desired{
		"two":            {Digest: "two"},
		"two-t":          {Digest: "two", Token: "t"},
		"atomic90-two":   {Digest: "two", Atomic: 90 * time.Second},
		"atomic90-two-t": {Digest: "two", Token: "t", Atomic: 90 * time.Second},
	} {
		if diff := cmp.Diff(want, ParseDesired(text)); diff != "" || want.String() != text {
			t.Errorf("%q: String() is %q, ParseDesired(...): -want, +got:\n%s", text, want.String(), diff)
		}
	}
	if got := TokenOf("again"); got != "b4c9e140" || TokenOf("") != "" {
		t.Errorf("TokenOf(...): %q", got)
	}
}

func FuzzParseDesired(f *testing.F) {
	for _, s := range []string{"", "two", "atomic90-two-t", "atomic-", "-", "atomic99999999999999999999-x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		defer fuzztest.Within(t, fuzztest.Limits{Base: 1 << 20, PerByte: 1 << 10}, len(s))()
		d := ParseDesired(s)
		if again := ParseDesired(d.String()); d.Digest != "" && d.Atomic > 0 && again != d {
			t.Errorf("ParseDesired(%q): %+v, and again %+v", s, d, again)
		}
	})
}
