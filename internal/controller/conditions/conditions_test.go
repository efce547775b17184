// SPDX-License-Identifier: Apache-2.0

package conditions

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

func TestTruncate(t *testing.T) {
	if got := Truncate("short", MaxMessage); got != "short" {
		t.Errorf("Truncate(...): want a short text as it is, got %q", got)
	}
	for n := range 4 {
		got := Truncate(strings.Repeat("a", n)+strings.Repeat("€", MaxMessage), MaxMessage)
		if len(got) > MaxMessage || !utf8.ValidString(got) || !strings.HasSuffix(got, "€…") {
			t.Errorf("Truncate(...): a message must not end in half a character: %d bytes, valid: %t", len(got), utf8.ValidString(got))
		}
	}
}

// TestMarkReady checks the conditions Stalled and LastAsyncOperation, and that their transition times stay the same while nothing
// changes.
func TestMarkReady(t *testing.T) {
	long := metav1.Time{Time: time.Unix(1, 0)}
	failed := xpv2.Condition{Type: xpv2.TypeReady, Status: "False", Reason: "ModuleFailed", Message: "no", LastTransitionTime: long}
	of := func(c xpv2.ConditionType, s corev1.ConditionStatus, reason xpv2.ConditionReason, message string) xpv2.Condition {
		return xpv2.Condition{Type: c, Status: s, Reason: reason, Message: message, LastTransitionTime: long, ObservedGeneration: 1}
	}
	before := []xpv2.Condition{
		of("Stalled", "True", "ModuleFailed", "no"), of("LastAsyncOperation", "False", "ModuleFailed", "no"), of("Ready", "False", "ModuleFailed", "no"),
	}
	cases := map[string]struct {
		reason  string
		before  []xpv2.Condition
		ready   xpv2.Condition
		stalled bool
		want    []xpv2.Condition
	}{
		"Waits":     {reason: "An object that waits is not stalled.", ready: failed, want: before[2:]},
		"Stalled":   {reason: "Equal passes result in equal conditions, and Ready comes last.", before: before, ready: failed, stalled: true, want: before},
		"Recovered": {reason: "An object that recovers has neither Stalled nor LastAsyncOperation.", before: before, ready: failed, want: before[2:]},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &xpv2.ConditionedStatus{Conditions: slices.Clone(tc.before)}
			MarkReady(s, 1, tc.ready, tc.stalled)
			if diff := cmp.Diff(tc.want, s.Conditions); diff != "" {
				t.Errorf("\n%s\nMarkReady(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReserve checks that the managed reconciler does not change the order of the conditions.
func TestReserve(t *testing.T) {
	cases := map[string]struct {
		reason string
		synced xpv2.Condition
	}{
		"Success": {reason: "The first reconcile succeeds.", synced: xpv2.ReconcileSuccess()},
		"Error":   {reason: "The first reconcile fails.", synced: xpv2.ReconcileError(errors.New("boom"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &xpv2.ConditionedStatus{}
			Reserve(s, 1)
			Mark(s, 1, xpv2.Available())
			tc.synced.ObservedGeneration = 1
			s.SetConditions(tc.synced) // As the managed reconciler does.
			want := s.DeepCopy()
			Reserve(s, 1)
			Mark(s, 1, xpv2.Available())
			if diff := cmp.Diff(want, s); diff != "" {
				t.Errorf("\n%s\nthe next reconcile: -want, +got:\n%s", tc.reason, diff)
			}
			if got := s.GetCondition(xpv2.TypeSynced); got.Reason != tc.synced.Reason {
				t.Errorf("\n%s\nSynced: want reason %s, got %s", tc.reason, tc.synced.Reason, got.Reason)
			}
		})
	}
}
