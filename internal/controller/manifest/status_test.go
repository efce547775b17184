// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

func TestReport(t *testing.T) {
	cases := map[string]struct {
		reason string
		o      engine.Observation
		want   v1alpha1.ManifestObservation
		ready  corev1.ConditionStatus
	}{
		"Ready": {
			reason: "What is ready has no message, and the version of its first chart.",
			o: engine.Observation{State: engine.Ready, Ready: 2, Total: 2, Parts: []engine.PartState{
				{Name: "crds", State: engine.Ready}, {Name: "a", State: engine.Ready, Version: "1.0.0"}, {Name: "b", State: engine.Ready, Version: "2.0.0"},
			}},
			want: v1alpha1.ManifestObservation{
				State: v1alpha1.StateReady, Version: "1.0.0", Resources: &v1alpha1.ResourceCounts{Ready: 2, Total: 2},
				Installs: []v1alpha1.InstallStatus{
					{Name: "crds", State: v1alpha1.StateReady},
					{Name: "a", State: v1alpha1.StateReady, Version: "1.0.0"},
					{Name: "b", State: v1alpha1.StateReady, Version: "2.0.0"},
				},
			},
			ready: corev1.ConditionTrue,
		},
		"Warning": {
			reason: "Ready is True only for what is ready.",
			o:      engine.Observation{State: engine.Warning, Message: "a: look here"},
			want: v1alpha1.ManifestObservation{
				State: v1alpha1.StateWarning, Message: "a: look here", Resources: &v1alpha1.ResourceCounts{},
			},
			ready: corev1.ConditionFalse,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := &v1alpha1.Manifest{}
			report(mr, tc.o)
			if diff := cmp.Diff(tc.want, mr.Status.AtProvider); diff != "" {
				t.Errorf("\n%s\nreport(...): -want, +got:\n%s", tc.reason, diff)
			}
			c := mr.GetCondition(xpv2.TypeReady)
			if c.Status != tc.ready || c.Message != tc.want.Message {
				t.Errorf("\n%s\nreport(...): condition %v", tc.reason, c)
			}
			before := mr.DeepCopy()
			report(mr, tc.o)
			if diff := cmp.Diff(before, mr); diff != "" {
				t.Errorf("\n%s\nreport(...) again must change nothing: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReportError(t *testing.T) {
	mr := &v1alpha1.Manifest{}
	report(mr, engine.Observation{State: engine.Ready, Total: 3, Ready: 3})
	reportError(mr, errors.New(strings.Repeat("x", 5000)))
	if got := mr.Status.AtProvider; got.State != v1alpha1.StateError || len(got.Message) != maxMessage || got.Resources == nil {
		t.Errorf("reportError(...): %v", got)
	}
	if c := mr.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionFalse {
		t.Errorf("what cannot be seen must not be called ready: %v", c)
	}
}

// TestGeneration holds that each condition names the generation that was examined, also where it was there before.
func TestGeneration(t *testing.T) {
	cases := map[string]struct {
		reason string
		report func(mr *v1alpha1.Manifest)
		c      xpv2.ConditionType
	}{
		"Ready": {"What is Ready.", func(mr *v1alpha1.Manifest) { report(mr, engine.Observation{State: engine.Ready}) }, xpv2.TypeReady},
		"Works": {"What works.", func(mr *v1alpha1.Manifest) {
			report(mr, engine.Observation{State: engine.Warning, Works: true, Message: "x"})
		}, xpv2.TypeReady},
		"NotReady":   {"What is not Ready.", func(mr *v1alpha1.Manifest) { report(mr, engine.Observation{State: engine.Processing}) }, xpv2.TypeReady},
		"Error":      {"What cannot be seen.", func(mr *v1alpha1.Manifest) { reportError(mr, errors.New("no")) }, xpv2.TypeReady},
		"Deletion":   {"What cannot be removed.", func(mr *v1alpha1.Manifest) { reportDeletion(mr, errors.New("no")) }, xpv2.TypeReady},
		"RolledBack": {"What was rolled back.", func(mr *v1alpha1.Manifest) { reportRollback(mr, &v1alpha1.RollbackStatus{RolledBack: true}) }, v1alpha1.TypeRolledBack},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := &v1alpha1.Manifest{}
			for range 2 {
				// The first one is as an older provider wrote it: without a generation.
				tc.report(mr)
				if got := mr.GetCondition(tc.c).ObservedGeneration; got != mr.Generation {
					t.Errorf("\n%s\ncondition %s is of generation %d, want %d", tc.reason, tc.c, got, mr.Generation)
				}
				if got := mr.Status.ObservedGeneration; tc.c == xpv2.TypeReady && got != mr.Generation {
					t.Errorf("\n%s\nstatus.observedGeneration is %d, want %d", tc.reason, got, mr.Generation)
				}
				mr.Generation = 7
			}
		})
	}
}

func TestCut(t *testing.T) {
	for n := range 4 {
		got := cut(strings.Repeat("a", n) + strings.Repeat("€", maxMessage))
		if len(got) > maxMessage || !utf8.ValidString(got) || !strings.HasSuffix(got, "€…") {
			t.Errorf("a message must not end in half a character\ncut(...): %d bytes, valid: %t", len(got), utf8.ValidString(got))
		}
	}
}

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
	meta.AddAnnotations(planned, map[string]string{v1alpha1.AnnotationTest: "now", v1alpha1.AnnotationPlan: "true"})
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		poll   time.Duration
		want   time.Duration
	}{
		"Ready":    {reason: "What is ready waits for the poll interval.", mr: ready, poll: 10 * time.Minute, want: 10 * time.Minute},
		"Tested":   {reason: "Tests that run are looked at.", mr: tested, poll: 10 * time.Minute, want: soonest},
		"Planned":  {reason: "What is only planned runs none.", mr: planned, poll: 10 * time.Minute, want: 10 * time.Minute},
		"Unsaid":   {reason: "What has no condition yet is looked at again at once.", mr: &v1alpha1.Manifest{}, poll: 10 * time.Minute, want: unsaid},
		"Fresh":    {reason: "What is not ready is looked at in seconds.", mr: since(0), poll: 10 * time.Minute, want: soonest},
		"Stuck":    {reason: "The longer it is not ready, the less often.", mr: since(2 * time.Minute), poll: 10 * time.Minute, want: 30 * time.Second},
		"Hopeless": {reason: "But never less often than each minute.", mr: since(100 * time.Hour), poll: 10 * time.Minute, want: latest},
		"Short":    {reason: "A shorter poll interval wins.", mr: since(100 * time.Hour), poll: 10 * time.Second, want: 10 * time.Second},
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
	mr.Status.AtProvider.Rollback = watching("")
	if d := untilRollback(mr, began.Add(45*time.Second)); d != 15*time.Second {
		t.Errorf("untilRollback(...): %s", d)
	}
	mr.Status.AtProvider.Rollback.Since = metav1.NewTime(time.Now().Add(-58 * time.Second))
	if d := pollIntervalHook(0)(mr, time.Hour); d > 2*time.Second {
		t.Errorf("pollIntervalHook(...): the wait ends without an event: %s", d)
	}
	mr.Status.AtProvider.Rollback.Since = metav1.NewTime(began)
	if d := untilRollback(mr, began.Add(time.Hour)); d != 0 {
		t.Errorf("untilRollback(...): what is still worked on when the time is over is not looked at each second: %s", d)
	}
	mr.Status.AtProvider.Rollback.RolledBack = true
	if d := untilRollback(mr, began); d != 0 {
		t.Errorf("untilRollback(...): nothing is waited for: %s", d)
	}
}
