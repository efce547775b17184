// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestReadyIsKept checks that a pass that reports Ready has stored what the next upgrade is rolled back to, also if only the installed
// content requests rollbacks. An upgrade can follow immediately.
func TestReadyIsKept(t *testing.T) {
	type want struct {
		state             v1alpha1.State
		kept              bool
		observed, applied int
	}
	refusal := errors.New("cannot save the inventory")
	atomic := func(l *simulation) { l.mr.Spec.ForProvider.Rollback, l.eng.atomic = nil, time.Minute }
	cases := map[string]struct {
		reason string
		change func(l *simulation)
		want   want
	}{
		"Manifest": {"The Manifest requests rollbacks.", func(*simulation) {}, want{v1alpha1.StateReady, true, 3, 2}},
		"Atomic":   {"The first install shows that it requests rollbacks.", atomic, want{v1alpha1.StateReady, true, 3, 2}},
		"Works": {"Objects have drifted, but work.", func(l *simulation) {
			l.eng.message, l.eng.works = "was changed", true
		}, want{v1alpha1.StateWarning, true, 3, 2}},
		"Broken": {"A revision that lacks an object is not stored.", func(l *simulation) {
			l.eng.message = "was deleted"
		}, want{v1alpha1.StateWarning, false, 2, 1}},
		"RefusedDrift": {"A Manifest that works with drift does not become Ready before its revision is stored.", func(l *simulation) {
			l.eng.message, l.eng.works, l.eng.refusal = "was changed", true, refusal
		}, want{v1alpha1.StateProcessing, false, 3, 2}},
		"None": {"Without rollbacks, no revision is stored.", func(l *simulation) {
			l.mr.Spec.ForProvider.Rollback = nil
		}, want{v1alpha1.StateReady, false, 2, 1}},
		"Fails": {"A revision that is not Ready is not stored.", func(l *simulation) {
			l.eng.fails["1.0.0"] = true
		}, want{v1alpha1.StateError, false, 2, 1}},
		"FailsWithError": {"The status contains the reason of the failure.", func(l *simulation) {
			l.eng.fails["1.0.0"], l.eng.refusal = true, refusal
		}, want{v1alpha1.StateError, false, 2, 1}},
		"Refused": {"A Manifest does not become Ready before its revision is stored.", func(l *simulation) {
			l.eng.refusal = refusal
		}, want{v1alpha1.StateProcessing, false, 3, 2}},
		"RefusedAtomic": {"A Manifest whose installed content requests rollbacks does not become Ready before its revision is stored.", func(l *simulation) {
			atomic(l)
			l.eng.refusal = refusal
		}, want{v1alpha1.StateProcessing, false, 3, 2}},
		"RefusedLater": {"A Manifest that is Ready stays Ready.", func(l *simulation) {
			l.mr.SetConditions(xpv2.Available())
			l.eng.refusal = refusal
		}, want{v1alpha1.StateReady, false, 3, 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newSimulation(t)
			l.eng, l.mr.Status, l.memory = &versions{fails: map[string]bool{"2.0.0": true}}, v1alpha1.ManifestStatus{}, &checkpoint.Memory{}
			l.calls = countingEngine{Engine: l.eng}
			l.want("1.0.0")
			tc.change(l)
			_ = l.pass(1)
			ready := tc.want.state == v1alpha1.StateReady || tc.want.state == v1alpha1.StateWarning && tc.want.kept
			if got := l.mr.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue; got != ready {
				t.Errorf("\n%s\npass: Ready is %t in state %s", tc.reason, got, l.mr.Status.AtProvider.State)
			}
			got := want{l.mr.Status.AtProvider.State, len(l.eng.good) > 0, l.calls.observed, l.calls.applied}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\npass: -want, +got:\n%s", tc.reason, diff)
			}
			if !tc.want.kept {
				return
			}
			l.want("2.0.0")
			_ = l.pass(1)
			l.now = l.now.Add(2 * time.Minute)
			if err := l.pass(2); err != nil || l.eng.applied != "1.0.0" {
				t.Errorf("\n%s\nan upgrade that fails: want 1.0.0, got %s, %v", tc.reason, l.eng.applied, err)
			}
		})
	}
}

// TestFirstUpdateVerified checks that the first install records once that it has no valid signature, and not again while it fails. The
// managed reconciler writes the finalizer between Observe and Update, and may lose the condition then.
func TestFirstUpdateVerified(t *testing.T) {
	boom := errors.New("forbidden")
	r, mr := &recorded{}, named("n", "m")
	pass := func(lost bool) {
		e := externalOf(&mockEngine{
			observe: func() (engine.Observation, error) { return engine.Observation{State: engine.Processing}, nil },
			apply:   func() (engine.Result, error) { return engine.Result{}, boom },
		}, &engine.Bundle{Name: "n.m"}, r)
		e.firstUpdate, e.verified = true, &verification{mode: v1alpha1.VerificationWarn, err: errors.New("no signature")}
		if o, err := e.Observe(t.Context(), mr); err != nil || !o.ResourceExists || o.ResourceUpToDate {
			t.Fatalf("Observe(...): want an update, got %+v, %v", o, err)
		}
		finalized(mr)
		if lost {
			mr.Status = v1alpha1.ManifestStatus{}
		}
		if _, err := e.Update(t.Context(), mr); !errors.Is(err, boom) {
			t.Fatalf("Update(...): want %v, got %v", boom, err)
		}
		if c := mr.GetCondition(v1alpha1.TypeVerified); c.Status != corev1.ConditionUnknown {
			t.Errorf("Update(...): condition Verified: %+v", c)
		}
	}
	for _, lost := range []bool{true, false} {
		r.events, mr = nil, named("n", "m")
		pass(lost)
		pass(false)
		pass(false)
		if diff := cmp.Diff([]string{"NotVerified: Applied without a valid signature: no signature"}, r.events); diff != "" {
			t.Errorf("status lost %t: events: -want, +got:\n%s", lost, diff)
		}
	}
}
