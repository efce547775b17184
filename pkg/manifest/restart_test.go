// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// forbidFor forbids applying a kind, for a reason.
func forbidFor(kind, why string) func(verb string, k cluster.ObjectRef) *metav1.Status {
	return refuse(kind, refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "%s", why))
}

// After a restart, a process reports what the previous one reported, and does not need a step for it. Reporting it again costs no
// write.
func TestObserveAfterRestart(t *testing.T) {
	failing := func(fault func(verb string, k cluster.ObjectRef) *metav1.Status) func(*testing.T, *bench) *Bundle {
		return func(_ *testing.T, b *bench) *Bundle {
			b.s.fault = fault
			return bundleOf(install("web", configMap("x")))
		}
	}
	cases := map[string]struct {
		reason  string
		options []CallOption
		run     func(t *testing.T, b *bench) *Bundle
		after   func(t *testing.T, b *bench, s *Bundle) // Two steps.
		phase   observe.Phase                           // Of the last part.
		want    string
	}{
		"Failed": {
			reason: "The API server refuses an object.",
			run:    failing(forbid("ConfigMap")),
			phase:  observe.PhaseFailed,
			want:   "web: ConfigMap apps/x: ConfigMap is forbidden: exceeded quota: small",
		},
		"Long": {
			reason: "The API server refuses an object with a long message, which is truncated.",
			run:    failing(forbidFor("ConfigMap", strings.Repeat("x", 5000))),
			phase:  observe.PhaseFailed,
			want:   "xxx…",
		},
		"Redacted": {
			reason:  "A message contains a secret value.",
			options: []CallOption{WithRedactor(func(text string) string { return strings.ReplaceAll(text, "hunter2", "REDACTED") })},
			run:     failing(forbidFor("ConfigMap", "not with hunter2")),
			phase:   observe.PhaseFailed,
			want:    "not with REDACTED",
		},
		"Deadline": {
			reason: "A step whose context ended keeps the reasons of the previous one.",
			run:    failing(forbid("ConfigMap")),
			after: func(t *testing.T, b *bench, s *Bundle) {
				t.Helper()
				forbidden := b.s.fault
				ctx, cancel := context.WithCancel(t.Context())
				b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
					cancel()
					return forbidFor("ConfigMap", "the time is over")(verb, k)
				}
				if _, err := b.Apply(ctx, b.c, s); err == nil || ctx.Err() == nil {
					t.Errorf("Apply(...): the call is not over, %v", err)
				}
				b.s.fault = forbidden
			},
			phase: observe.PhaseFailed,
			want:  "exceeded quota: small",
		},
		"Unsaved": {
			reason: "A step whose reasons could not be saved keeps the reasons of the previous one.",
			run:    failing(forbid("ConfigMap")),
			after: func(t *testing.T, b *bench, s *Bundle) {
				t.Helper()
				forbidden := b.s.fault
				b.s.fault = func(verb string, k cluster.ObjectRef) *metav1.Status {
					if k.Kind == "Secret" {
						return forbid("Secret")(verb, k)
					}
					return forbidFor("ConfigMap", "exceeded quota: large")(verb, k)
				}
				_, _ = b.Apply(t.Context(), b.c, s)
				b.s.fault = forbidden
			},
			phase: observe.PhaseFailed,
			want:  "exceeded quota: small",
		},
		"Count": {
			reason: "The reasons of two steps differ only in a number.",
			run:    failing(forbidFor("ConfigMap", "exceeded quota: used 1")),
			after: func(t *testing.T, b *bench, s *Bundle) {
				t.Helper()
				b.s.fault = forbidFor("ConfigMap", "exceeded quota: used 2")
				_, _ = b.Apply(t.Context(), b.c, s)
			},
			phase: observe.PhaseFailed,
			want:  "exceeded quota: used 2",
		},
		"OtherProcess": {
			reason: "A step of another process is newer than the last one of this process.",
			run:    failing(forbid("ConfigMap")),
			after: func(t *testing.T, b *bench, s *Bundle) {
				t.Helper()
				b.s.fault = forbidFor("ConfigMap", "exceeded quota: large")
				other := bench{Engine: New(WithMessages(advised)), t: t, s: b.s, c: newFakeCluster(t, b.s)}
				_, _ = other.Apply(t.Context(), other.c, s)
			},
			phase: observe.PhaseFailed,
			want:  "exceeded quota: large",
		},
		"FailedUpgrade": {
			reason: "A chart cannot be rendered, after one that could.",
			run: func(_ *testing.T, b *bench) *Bundle {
				b.reconcile(bundleOf(install("web", configMap("x"))))
				return bundleOf(install("web", `{{ fail "no luck" }}`))
			},
			phase: observe.PhaseFailed,
			want:  "no luck",
		},
		"CRD": {
			reason: "A CRD is not established.",
			run: func(t *testing.T, b *bench) *Bundle {
				t.Helper()
				b.s.unready = true
				return widgetBundle(t, nil)
			},
			phase: observe.PhaseBlocked,
			want:  "CustomResourceDefinition widgets.example.org: ",
		},
		"Wait": {
			reason: "An earlier install holds back a later one.",
			run: func(_ *testing.T, b *bench) *Bundle {
				b.s.unready = true
				return waitingBundle("hello", "Wait=true")
			},
			phase: observe.PhaseBlocked,
			want:  "0 of 1 replicas available",
		},
		"Hook": {
			reason: "A hook is running.",
			run: func(_ *testing.T, b *bench) *Bundle {
				b.s.unready = true
				return bundleOf(install("web", tmplConfig, hookJob("first", "pre-install")))
			},
			phase: observe.PhaseHooksRunning,
			want:  "web: hook pre-install Job apps/first is running",
		},
		"Prune": {
			reason: "Custom resources remain of a CRD that must be deleted.",
			run: func(t *testing.T, b *bench) *Bundle {
				t.Helper()
				b.reconcile(bundleOf(install("web", tmplConfig, "crds/"+tmplCRD)))
				b.s.put(manifestOf(t, strings.Replace(fmt.Sprintf(tmplWidget, "theirs"), "name:", "namespace: default, name:", 1)).Object)
				return bundleOf(install("web", tmplConfig))
			},
			phase: observe.PhasePruning,
			want:  "web: 1 object of a kind that this module defines still exists: Widget default/theirs; delete the ones that you do not need",
		},
		"PruneRefused": {
			reason: "An object must not be deleted.",
			run: func(t *testing.T, b *bench) *Bundle {
				t.Helper()
				b.reconcile(bundleOf(install("web", configMap("x"), configMap("y"))))
				b.s.fault = func(verb string, _ cluster.ObjectRef) *metav1.Status {
					if verb != "delete" {
						return nil
					}
					return refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "no right to delete")
				}
				return bundleOf(install("web", configMap("x")))
			},
			phase: observe.PhaseFailed,
			want:  "web: ConfigMap apps/y: no right to delete",
		},
		"Leaving": {
			reason: "A part waits for them.",
			run: func(t *testing.T, b *bench) *Bundle {
				t.Helper()
				b.reconcile(bundleOf(install("old", "crds/"+tmplCRD), install("web", tmplConfig)))
				b.s.put(manifestOf(t, strings.Replace(fmt.Sprintf(tmplWidget, "theirs"), "name:", "namespace: default, name:", 1)).Object)
				return bundleOf(install("web", tmplConfig))
			},
			phase: observe.PhaseReady,
			want:  "old: 1 object of a kind that this module defines still exists: Widget default/theirs; delete the ones that you do not need",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := tc.run(t, b)
			for range 2 {
				_, _ = b.Apply(t.Context(), b.c, s, tc.options...)
			}
			if tc.after != nil {
				tc.after(t, b, s)
			}
			want := b.observe(s)
			if p := want.Parts[len(want.Parts)-1].Phase; p != tc.phase || !strings.Contains(want.Message, tc.want) {
				t.Errorf("\n%s\nwant %s %q, got %s %+v", tc.reason, tc.phase, tc.want, p, want)
			}
			b.restart()
			if diff := cmp.Diff(want, b.observe(s)); diff != "" {
				t.Errorf("\n%s\n-before, +after a restart:\n%s", tc.reason, diff)
			}

			version := b.s.versionOf(key("Secret", DefaultNamespace, s.Name))
			for range 2 {
				_, _ = b.Apply(t.Context(), b.c, s, tc.options...)
			}
			if got := b.s.versionOf(key("Secret", DefaultNamespace, s.Name)); got != version {
				t.Errorf("\n%s\nthe inventory is written for what it says already", tc.reason)
			}
		})
	}
}

// An object that other clients delete repeatedly is restored as rarely after a restart, which is reported.
func TestContendedAfterRestart(t *testing.T) {
	k := key("ConfigMap", "apps", "x")
	cases := map[string]struct {
		reason string
		take   func(b *bench)
	}{
		"Deleted":   {reason: "Other clients delete the object.", take: func(b *bench) { b.s.remove(k) }},
		"Unlabeled": {reason: "Other clients remove the labels of the object.", take: func(b *bench) { b.s.editAs("other/Update", k, func(u *unstructured.Unstructured) { u.SetLabels(nil) }) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, now := newBench(t), time.Unix(1_700_000_000, 0)
			clock := func() time.Time { return now }
			b.now = clock
			s := bundleOf(install("web", configMap("x")))
			b.reconcile(s)
			for range ownership.MaxRepairs {
				tc.take(b)
				if r := b.apply(s); len(r.Repaired) != 1 {
					t.Fatalf("\n%s\nApply(...): want a repair, got %+v", tc.reason, r)
				}
				now = now.Add(time.Second)
			}
			tc.take(b)
			want := b.observe(s)
			if p := want.Parts[0].Phase; p != PhaseContended {
				t.Fatalf("\n%s\nObserve(...): %+v", tc.reason, want)
			}
			b.restart()
			b.now = clock
			if diff := cmp.Diff(want, b.observe(s)); diff != "" {
				t.Errorf("\n%s\n-before, +after a restart:\n%s", tc.reason, diff)
			}
			if r := b.apply(s); len(r.Repaired) != 0 {
				t.Errorf("\n%s\nApply(...) after a restart: %+v", tc.reason, r)
			}
			now = now.Add(ownership.RestoreInterval)
			if r := b.apply(s); len(r.Repaired) != 1 {
				t.Errorf("\n%s\nApply(...) after a pause: %+v", tc.reason, r)
			}
			tc.take(b)
			if o := b.observe(s); o.Parts[0].Phase != PhaseContended {
				t.Errorf("\n%s\nObserve(...) after the next one: %+v", tc.reason, o)
			}
		})
	}
}

// After a restart, the message names the object that is waited for now, even if its name differs only in a digit.
func TestRestartNamesNext(t *testing.T) {
	b := newBench(t)
	b.s.unready = true
	s := bundleOf(install("web", hookJob("migrate-1", "pre-install", weight(1)), hookJob("migrate-2", "pre-install", weight(2))))
	b.apply(s)
	completeJob(b, "migrate-1")
	b.apply(s)
	b.restart()
	if o := b.observe(s); !strings.Contains(o.Message, "Job apps/migrate-2 is running") {
		t.Errorf("Observe(...): want the second hook, got %q", o.Message)
	}
}

// Stored reasons contain no secret values, and are removed with their cause.
func TestReasonsInInventory(t *testing.T) {
	b := newBench(t)
	s := bundleOf(install("web", `{{ fail "the password is hunter2" }}`))
	_ = b.fails(s, WithRedactor(func(text string) string { return strings.ReplaceAll(text, "hunter2", "REDACTED") }))
	last := b.inventory(s).Last
	if last == nil || !strings.Contains(last.Failed["web"].Message, "the password is REDACTED") || strings.Contains(last.Failed["web"].Message, "hunter2") {
		t.Errorf("want a failure without the secret value, got %+v", last)
	}
	s = bundleOf(install("web", configMap("x")))
	b.reconcile(s)
	if last := b.inventory(s).Last; last != nil {
		t.Errorf("want no reason once all is well, got %+v", last)
	}
}
