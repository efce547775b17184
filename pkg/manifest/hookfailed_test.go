// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/hook"
)

// fails applies until there is an error, and returns it.
func (b *bench) fails(s *Bundle, o ...CallOption) string {
	b.t.Helper()
	for range 3 {
		if _, err := b.Apply(b.t.Context(), b.c, s, o...); err != nil {
			return err.Error()
		}
	}
	b.t.Fatal("no error")
	return ""
}

func TestFailedHook(t *testing.T) {
	cases := map[string]struct {
		reason   string
		template string
		pod      string
		log      string
		want     string
	}{
		"Termination": {
			reason:   "The termination message of the container is what its author wants users to read.",
			template: hookJob("first", "pre-install", policies(string(hook.Failed))),
			pod:      "state: {terminated: {exitCode: 1, message: \"no such\\ntable\\n\"}}",
			log:      "something else",
			want:     "web: hook pre-install Job apps/first failed: BackoffLimitExceeded: Job has reached the specified backoff limit: no such table",
		},
		"Log": {
			reason:   "Without a termination message, the last line of the log may help.",
			template: hookJob("first", "pre-install"),
			pod:      "state: {terminated: {exitCode: 1, reason: Error}}",
			log:      "it is broken\n",
			want:     "backoff limit: it is broken",
		},
		"Neither": {
			reason:   "Without both, the exit code is reported.",
			template: hookJob("first", "pre-install"),
			pod:      "state: {terminated: {exitCode: 3, reason: Error}}",
			want:     "backoff limit: Error with exit code 3",
		},
		"NoPod": {
			reason:   "Without pods, the conditions of the Job are reported.",
			template: hookJob("first", "pre-install"),
			want:     "backoff limit",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.s.unready = true
			s := bundleOf(install("web", tmplConfig, tc.template))
			b.apply(s)
			if o := b.observe(s); o.State != Processing || o.Message != "web: hook pre-install Job apps/first is running" {
				t.Errorf("\n%s\nwhile it runs: %+v", tc.reason, o)
			}
			if diff := cmp.Diff([]string{"1 pending-install"}, b.statuses()); diff != "" {
				t.Errorf("\n%s\nrecords: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.pod != "" {
				u := manifestOf(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: apps, labels: {batch.kubernetes.io/job-name: first}}\n"+
					"status: {phase: Failed, containerStatuses: [{name: c, "+tc.pod+"}]}\n")
				b.s.put(u.Object)
			}
			if tc.log != "" {
				b.s.logs = map[string]string{"p": tc.log}
			}
			failJob(b, "first")
			b.restart()
			if got := b.fails(s); !strings.HasSuffix(got, tc.want) {
				t.Errorf("\n%s\nwant the end %q, got %q", tc.reason, tc.want, got)
			}
			b.restart()
			b.s.took()
			if o := b.observe(s); !o.UpToDate || o.State != Error || !strings.HasSuffix(o.Message, tc.want) {
				t.Errorf("\n%s\nobservation: %+v", tc.reason, o)
			}
			if diff := cmp.Diff([]string{"1 failed"}, b.statuses()); diff != "" {
				t.Errorf("\n%s\nrecords: -want, +got:\n%s", tc.reason, diff)
			}
			if kept := b.s.objects[jobKey("first")] != nil; kept == strings.Contains(tc.template, string(hook.Failed)) {
				t.Errorf("\n%s\nthe Job is kept: %v", tc.reason, kept)
			}
			if b.s.objects[key("ConfigMap", "apps", "web")] != nil {
				t.Errorf("\n%s\nan object was applied", tc.reason)
			}

			// Nothing runs again until a user requests it.
			b.s.took()
			_, err := b.Apply(t.Context(), b.c, s)
			if got := hookWrites(b.s.took()); err == nil || len(got) != 0 {
				t.Errorf("\n%s\nanother step did %v, error %v", tc.reason, got, err)
			}
			again := WithRetryToken("again")
			b.s.unready = false
			b.reconcile(s, again)
			if diff := cmp.Diff([]string{"1 failed", "2 deployed"}, b.statuses()); diff != "" {
				t.Errorf("\n%s\nrecords: -want, +got:\n%s", tc.reason, diff)
			}
			if d := b.s.objects[key("ConfigMap", "apps", "web")]; d == nil || d.content["data"].(map[string]any)["revision"] != "2" {
				t.Errorf("\n%s\nthe object of the second revision: %+v", tc.reason, d)
			}
			b.s.remove(key("ConfigMap", "apps", "web"))
			b.reconcile(s, again)
		})
	}
}

func TestFailedHookOfUpgrade(t *testing.T) {
	chart := func(greeting string) *Bundle {
		s := bundleOf(install("web", tmplConfig, hookJob("last", "post-install,post-upgrade", policies(string(hook.BeforeCreation)))))
		s.Installs[0].Values = map[string]any{"greeting": greeting}
		return s
	}
	b := newBench(t)
	b.reconcile(chart("one"))
	b.s.unready = true
	b.apply(chart("two"))
	if diff := cmp.Diff([]string{"1 deployed", "2 pending-upgrade"}, b.statuses()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}
	failJob(b, "last")
	b.fails(chart("two"))
	if o := b.observe(chart("two")); !o.UpToDate || o.State != Error || o.Ready != 1 {
		t.Errorf("observation: %+v", o)
	}
	// The objects of the install are repaired nevertheless.
	b.s.remove(key("ConfigMap", "apps", "web"))
	_, _ = b.Apply(t.Context(), b.c, chart("two"))
	if o := b.observe(chart("two")); !o.UpToDate || o.State != Error || o.Ready != 1 {
		t.Errorf("after the repair: %+v", o)
	}
	b.s.unready = false
	b.reconcile(chart("three"))
	if diff := cmp.Diff([]string{"1 superseded", "2 failed", "3 deployed"}, b.statuses()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}
	// A revision that is replaced while its hooks run has failed, too.
	b.s.unready = true
	b.apply(chart("four"))
	b.s.unready = false
	b.reconcile(chart("five"))
	if diff := cmp.Diff([]string{"1 superseded", "2 failed", "3 superseded", "4 failed", "5 deployed"}, b.statuses()); diff != "" {
		t.Errorf("records: -want, +got:\n%s", diff)
	}
}

func TestHookTimeout(t *testing.T) {
	b := newBench(t)
	b.s.unready = true
	s := bundleOf(install("web", tmplConfig, hookJob("first", "pre-install")))
	s.Config = configOf(entryFor("web", "Timeout=90s", ""))
	b.apply(s)
	b.restart()
	// After a restart, the hook has the timeout once more, because the clock can have changed.
	for _, seconds := range []int64{89, 90, 178} {
		b.now = func() time.Time { return time.Unix(1_700_000_000+seconds, 0) }
		if r := b.apply(s); r.Waiting != "hook pre-install Job apps/first is running" {
			t.Errorf("waits for %q", r.Waiting)
		}
	}
	b.now = func() time.Time { return time.Unix(1_700_000_179, 0) }
	if got := b.fails(s); got != "web: hook pre-install Job apps/first did not finish within 1m30s: the hook is running" {
		t.Errorf("got %q", got)
	}
}

func TestRecordsOfFailedRevisions(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", tmplConfig, hookJob("first", "pre-install,pre-upgrade")))
	b.reconcile(s)
	for n := range DefaultHistory {
		s.Installs[0].Values = map[string]any{"greeting": string(rune('a' + n))}
		b.s.unready = true
		b.apply(s)
		failJob(b, "first")
		_, _ = b.Apply(t.Context(), b.c, s)
		b.s.unready = false
		b.reconcile(s, WithRetryToken("again"))
	}
	if got := b.statuses(); len(got) > DefaultHistory {
		t.Errorf("%d records are kept, those of revisions that failed among them: %v", len(got), got)
	}
}
