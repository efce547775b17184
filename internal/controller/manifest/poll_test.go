// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestPollIntervalHook(t *testing.T) {
	since := func(d time.Duration) *v1alpha1.Manifest {
		mr := &v1alpha1.Manifest{}
		c := xpv2.Unavailable()
		c.LastTransitionTime = metav1.NewTime(time.Now().Add(-d))
		mr.Status.Conditions = []xpv2.Condition{c}
		return mr
	}
	ready := &v1alpha1.Manifest{}
	ready.SetConditions(xpv2.Available())
	tested, planned := ready.DeepCopy(), ready.DeepCopy()
	meta.AddAnnotations(tested, map[string]string{v1alpha1.AnnotationTest: "now"})
	meta.AddAnnotations(planned, map[string]string{v1alpha1.AnnotationTest: "now"})
	planned.Spec.ForProvider.Mode = v1alpha1.ModePlan
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		poll   time.Duration
		want   time.Duration
	}{
		"Ready":    {reason: "A ready Manifest is reconciled after the poll interval.", mr: ready, poll: 10 * time.Minute, want: 10 * time.Minute},
		"Tested":   {reason: "A Manifest whose tests run is reconciled soon.", mr: tested, poll: 10 * time.Minute, want: soonest},
		"Planned":  {reason: "A Manifest that is only planned runs no tests.", mr: planned, poll: 10 * time.Minute, want: 10 * time.Minute},
		"Unsaid":   {reason: "A Manifest without conditions is reconciled again at once.", mr: &v1alpha1.Manifest{}, poll: 10 * time.Minute, want: unsaid},
		"Fresh":    {reason: "A Manifest that is not ready is reconciled within seconds.", mr: since(0), poll: 10 * time.Minute, want: soonest},
		"Stuck":    {reason: "The longer a Manifest is not ready, the less often it is reconciled.", mr: since(2 * time.Minute), poll: 10 * time.Minute, want: 30 * time.Second},
		"Hopeless": {reason: "A Manifest that is not ready is reconciled at least once per minute.", mr: since(100 * time.Hour), poll: 10 * time.Minute, want: latest},
		"Short":    {reason: "A shorter poll interval takes precedence.", mr: since(100 * time.Hour), poll: 10 * time.Second, want: 10 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			const jitter = 0.1
			hook := pollIntervalHook(jitter)
			for range 100 {
				got := hook(tc.mr, tc.poll)
				low, high := time.Duration(float64(tc.want)*(1-jitter))-time.Second, time.Duration(float64(tc.want)*(1+jitter))+time.Second
				if got < low || got > high {
					t.Fatalf("\n%s\npollIntervalHook(...): %s is not within %s and %s", tc.reason, got, low, high)
				}
			}
		})
	}
}

func TestUntilRollback(t *testing.T) {
	mr := named("n", "m", func(m *v1alpha1.Manifest) {
		m.Spec.ForProvider.Rollback = &v1alpha1.Rollback{After: metav1.Duration{Duration: time.Minute}}
		m.SetConditions(xpv2.Unavailable())
	})
	mr.Status.AtProvider.Rollback = &v1alpha1.RollbackStatus{Desired: "two", Since: metav1.NewTime(began), Version: "1.0.0"}
	if d := untilRollback(mr, began.Add(45*time.Second)); d != 15*time.Second {
		t.Errorf("untilRollback(...): %s", d)
	}
	mr.Status.AtProvider.Rollback.Since = metav1.NewTime(time.Now().Add(-58 * time.Second))
	if d := pollIntervalHook(0)(mr, time.Hour); d > 2*time.Second {
		t.Errorf("pollIntervalHook(...): the wait ends without an event: %s", d)
	}
	mr.Status.AtProvider.Rollback.Since = metav1.NewTime(began)
	if d := untilRollback(mr, began.Add(time.Hour)); d != 0 {
		t.Errorf("untilRollback(...): what is still worked on when the time is over is not checked each second: %s", d)
	}
	mr.Status.AtProvider.Rollback.RolledBack = true
	if d := untilRollback(mr, began); d != 0 {
		t.Errorf("untilRollback(...): nothing is waited for: %s", d)
	}
}
