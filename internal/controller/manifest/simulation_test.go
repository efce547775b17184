// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/manifest/checkpoint"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

var began = time.Unix(1_700_000_000, 0).UTC()

func requested(token string) func(m *v1alpha1.Manifest) {
	return func(m *v1alpha1.Manifest) {
		meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyReconcileRequestedAt: token})
	}
}

// A cluster in which everything with version bad fails.
type versions struct {
	mockEngine

	good    []byte
	atomic  time.Duration
	applied string
	// message is the message of the condition Ready. redacted is the engine's output for a value.
	message, redacted string
	// works is set if the versions with the message work.
	works bool
	// err is the error of observing a rollback.
	err error
	// refusal is the error of storing a checkpoint, and of applying what fails.
	refusal error
	fails   map[string]bool
	log     []string
}

func versionIn(b *engine.Bundle) string {
	v, _ := b.Installs[0].Values["v"].(string)
	return v
}

func (v *versions) Observe(_ context.Context, _ cluster.Cluster, b *engine.Bundle, options ...engine.CallOption) (engine.Observation, error) {
	call := engine.CallOptionsOf(options...)
	o := engine.Observation{Exists: true, Checkpoint: v.good, State: engine.Processing, Message: "is being applied"}
	if v.applied != "" {
		o.Atomic = v.atomic // It is part of the inventory.
	}
	if call.Rollback && v.err != nil {
		return engine.Observation{}, v.err
	}
	switch want := versionIn(b); {
	case v.applied != want:
	case v.fails[want]:
		o.State, o.Message, o.UpToDate = engine.Error, "web: broken", true
	default:
		o.State, o.Message, o.UpToDate = engine.Ready, "", cmp.Equal(v.good, call.Checkpoint)
		if v.message != "" {
			o.State, o.Message, o.Works = engine.Warning, v.message, v.works
		}
	}
	return o, nil
}

func (v *versions) Apply(_ context.Context, _ cluster.Cluster, b *engine.Bundle, options ...engine.CallOption) (engine.Result, error) {
	want, call := versionIn(b), engine.CallOptionsOf(options...)
	v.redacted = call.Redact(hunter)
	if v.applied == want && !v.fails[want] {
		if v.refusal != nil {
			return engine.Result{}, v.refusal
		}
		v.good = call.Checkpoint
		return engine.Result{}, nil
	}
	v.applied = want
	if call.Rollback {
		want += " rolling back"
	}
	v.log = append(v.log, want)
	if v.fails[want] {
		return engine.Result{Updated: 1}, v.refusal
	}
	return engine.Result{Updated: 1}, nil
}

// A simulation runs several passes of the reconciler over a Manifest. Each pass simulates a new process, unless memory is kept.
type simulation struct {
	t      *testing.T
	mr     *v1alpha1.Manifest
	eng    *versions
	now    time.Time
	record recorded
	verify error
	memory *checkpoint.Memory
	calls  countingEngine
	again  int
}

func (l *simulation) want(v string) {
	l.mr.Spec.ForProvider.Version = v
	l.mr.Spec.ForProvider.Installs[0].Values = &runtime.RawExtension{Raw: []byte(`{"v":"` + v + `"}`)}
}

func (l *simulation) pass(times int) error {
	var last error
	for range times {
		c := &content{}
		b, err := c.bundleOf(l.mr)
		if err != nil {
			l.t.Fatal(err)
		}
		before := *b
		e := externalOf(&l.calls, b, &l.record)
		e.again = func() { l.again++ }
		e.decider.desired = func() (*checkpoint.Snapshot, error) { return checkpoint.New(l.mr, b, nil) }
		e.decider.restore = func(_ context.Context, mr *v1alpha1.Manifest) (*engine.Bundle, error) {
			if l.verify != nil {
				return nil, l.verify
			}
			return c.bundleOf(mr)
		}
		e.decider.now = func() time.Time { return l.now }
		if l.memory != nil {
			e.memory = l.memory
		}
		o, err := e.Observe(l.t.Context(), l.mr)
		last = err
		if err == nil && !o.ResourceUpToDate {
			if _, err := e.Update(l.t.Context(), l.mr); err != nil && !errors.Is(err, l.eng.refusal) {
				l.t.Fatal(err)
			}
		}
		if diff := cmp.Diff(before, *b, cmpopts.IgnoreFields(engine.Install{}, "Fetch")); diff != "" {
			l.t.Errorf("what the Manifest says must stay as it is: -want, +got:\n%s", diff)
		}
	}
	return last
}

func newSimulation(t *testing.T) *simulation {
	t.Helper()
	l := &simulation{t: t, now: began, eng: &versions{fails: map[string]bool{"2.0.0": true}}}
	l.calls.Engine = l.eng
	l.mr = named("n", "m", func(m *v1alpha1.Manifest) {
		m.Spec.ForProvider.Rollback = &v1alpha1.Rollback{Trigger: v1alpha1.RollbackTriggerFailed, After: metav1.Duration{Duration: time.Minute}}
		m.Spec.ForProvider.Installs = []v1alpha1.Install{{Name: "web", Namespace: "d", Source: v1alpha1.Source{Type: v1alpha1.SourceTypeOCIRef, Ref: digest}}}
	})
	l.want("1.0.0")
	if err := l.pass(3); err != nil {
		t.Fatal(err)
	}
	l.want("2.0.0")
	if err := l.pass(2); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRollbackLife(t *testing.T) {
	l := newSimulation(t)
	at := &l.mr.Status.AtProvider
	if at.State != v1alpha1.StateError || at.Rollback == nil || at.Rollback.RolledBack {
		t.Fatalf("an upgrade that fails is watched: %+v", at)
	}
	l.now = l.now.Add(2 * time.Minute)
	if err := l.pass(1); err != nil || !at.Rollback.RolledBack || l.eng.applied != "2.0.0" {
		t.Fatalf("the status is written before anything is done: %v, %+v, %s", err, at.Rollback, l.eng.applied)
	}
	if err := l.pass(2); err != nil {
		t.Fatal(err)
	}
	const text = "rolled back to 1.0.0 because the upgrade to 2.0.0 failed: web: broken"
	if at.State != v1alpha1.StateWarning || at.Message != text || at.Version != "1.0.0" {
		t.Errorf("what is desired is not what runs: %+v", at)
	}
	if c := l.mr.GetCondition(v1alpha1.TypeRolledBack); c.Status != corev1.ConditionTrue || c.Message != "web: broken" {
		t.Errorf("condition RolledBack: %+v", c)
	}
	if c := l.mr.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionFalse || c.Message != text {
		t.Errorf("condition Ready: %+v", c)
	}
	before := l.mr.DeepCopy()
	l.now = l.now.Add(time.Hour)
	if err := l.pass(3); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, l.mr); diff != "" {
		t.Errorf("nothing changes from then on: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1.0.0", "2.0.0", "1.0.0 rolling back"}, l.eng.log); diff != "" {
		t.Errorf("nothing is applied twice: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"RolledBack: Upgrade is being " + text}, l.record.events); diff != "" {
		t.Errorf("one event is recorded: -want, +got:\n%s", diff)
	}

	requested("again")(l.mr)
	if err := l.pass(2); err != nil || l.eng.applied != "2.0.0" || at.Rollback.RolledBack {
		t.Errorf("a request tries again: %v, %+v", err, at.Rollback)
	}
	l.want("3.0.0")
	if err := l.pass(3); err != nil || at.State != v1alpha1.StateReady || at.Rollback != nil {
		t.Errorf("a newer version that works ends it: %v, %+v", err, at)
	}
	if c := l.mr.GetCondition(v1alpha1.TypeRolledBack); c.Status == corev1.ConditionTrue {
		t.Errorf("the condition goes: %+v", c)
	}
}

// While the provider waits for a failing upgrade, a newer upgrade gets its own time.
func TestNewerVersionCancelsTheWait(t *testing.T) {
	l := newSimulation(t)
	l.eng.fails["2.0.1"] = true
	l.now = l.now.Add(50 * time.Second)
	l.want("2.0.1")
	if err := l.pass(3); err != nil {
		t.Fatal(err)
	}
	l.now = l.now.Add(50 * time.Second)
	at := &l.mr.Status.AtProvider
	if err := l.pass(3); err != nil || at.Rollback == nil || at.Rollback.RolledBack || l.eng.applied != "2.0.1" {
		t.Fatalf("its time is not over: %v, %+v, %s", err, at.Rollback, l.eng.applied)
	}
	l.now = l.now.Add(10 * time.Second)
	if err := l.pass(3); err != nil || !at.Rollback.RolledBack || at.Version != "1.0.0" {
		t.Errorf("now it is: %v, %+v, %s", err, at.Rollback, at.Version)
	}
	if diff := cmp.Diff([]string{"1.0.0", "2.0.0", "2.0.1", "1.0.0 rolling back"}, l.eng.log); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// An upgrade that worked although objects had drifted is not rolled back when it fails later.
func TestNoRollbackAfterDrift(t *testing.T) {
	l := newSimulation(t)
	l.eng.message, l.eng.works = "web: ConfigMap d/x was changed at data.k", true
	l.want("3.0.0")
	at := &l.mr.Status.AtProvider
	if err := l.pass(1); err != nil || at.State != v1alpha1.StateWarning || at.Rollback != nil {
		t.Fatalf("an upgrade that works with drift: %v, %+v", err, at)
	}
	l.now = l.now.Add(24 * time.Hour)
	l.eng.fails["3.0.0"] = true
	if err := l.pass(1); err != nil || at.State != v1alpha1.StateError || at.Rollback != nil {
		t.Errorf("it fails much later: %v, %+v", err, at)
	}
	l.now = l.now.Add(time.Hour)
	if err := l.pass(3); err != nil || at.Rollback != nil || l.eng.applied != "3.0.0" {
		t.Errorf("it continues to fail: %v, %+v, %s", err, at.Rollback, l.eng.applied)
	}
}

func TestRollbackVerified(t *testing.T) {
	l := newSimulation(t)
	l.now, l.verify = l.now.Add(time.Hour), errors.New("no signature")
	_ = l.pass(1)
	if err := l.pass(1); err == nil || !strings.Contains(err.Error(), "cannot roll back: no signature") || l.eng.applied != "2.0.0" {
		t.Errorf("a rollback must not pass by a signature: %v, %s", err, l.eng.applied)
	}
}

func TestNoRollback(t *testing.T) {
	for name, change := range map[string]func(l *simulation){
		"NoPolicy": func(l *simulation) { l.mr.Spec.ForProvider.Rollback = nil },
		"NoUpdate": func(l *simulation) {
			l.mr.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newSimulation(t)
			change(l)
			l.now = l.now.Add(time.Hour)
			if err := l.pass(2); err != nil || l.mr.Status.AtProvider.Rollback != nil || l.eng.applied != "2.0.0" {
				t.Errorf("nothing is rolled back: %v, %+v", err, l.mr.Status.AtProvider.Rollback)
			}
		})
	}
}

// TestCallsPerPass checks how often a pass observes and applies. A pass that applies nothing observes once, also while an
// upgrade is watched or rolled back, and for an install that requests rollbacks itself. A pass that applies something also
// observes the result, and once more if it keeps what is Ready. The first pass after a restart observes twice if it needs data from the inventory.
func TestCallsPerPass(t *testing.T) {
	for name, change := range map[string]func(l *simulation){
		"Manifest": func(*simulation) {},
		"Atomic":   func(l *simulation) { l.mr.Spec.ForProvider.Rollback, l.eng.atomic = nil, time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			l := newSimulation(t)
			l.memory = &checkpoint.Memory{}
			l.want("1.0.0")
			l.mr.Status.AtProvider.Rollback = nil
			change(l)
			if err := l.pass(3); err != nil {
				t.Fatal(err)
			}
			calls := func(reason string, passes, observed, applied int) {
				t.Helper()
				l.calls.observed, l.calls.applied = 0, 0
				if err := l.pass(passes); err != nil {
					t.Fatal(err)
				}
				if got := [2]int{l.calls.observed, l.calls.applied}; got != [2]int{observed, applied} {
					t.Errorf("%s: %d passes observed %d times and applied %d times, want %d and %d", reason, passes, got[0], got[1], observed, applied)
				}
			}
			calls("at rest", 3, 3, 0)
			l.want("2.0.0")
			calls("an upgrade observes, applies, and observes what became of it", 1, 2, 1)
			calls("while it is watched", 3, 3, 0)
			l.now = l.now.Add(2 * time.Minute)
			calls("the pass that decides applies nothing", 1, 1, 0)
			if l.again != 1 || !l.mr.Status.AtProvider.Rollback.RolledBack {
				t.Errorf("the next pass is asked for %d times, status %+v", l.again, l.mr.Status.AtProvider.Rollback)
			}
			calls("the next pass brings back what was Ready", 1, 2, 1)
			calls("while it is rolled back", 3, 3, 0)
			l.memory = &checkpoint.Memory{}
			calls("after a restart it is learned what is kept", 1, 2, 0)
			calls("and remembered", 3, 3, 0)
			l.want("3.0.0")
			calls("a newer version is installed by the status alone, and kept because it is Ready", 1, 3, 2)
			calls("at rest again", 3, 3, 0)
			if st := l.mr.Status.AtProvider; st.State != v1alpha1.StateReady || st.Rollback != nil {
				t.Errorf("status: %+v", st)
			}
		})
	}
}

// TestMemoryIsNotTrusted checks that the state in memory is compared with the inventory in each pass.
func TestMemoryIsNotTrusted(t *testing.T) {
	l := newSimulation(t)
	l.memory = &checkpoint.Memory{}
	l.now = l.now.Add(2 * time.Minute)
	if err := l.pass(3); err != nil || l.eng.applied != "1.0.0" {
		t.Fatalf("rolled back: %v, %s", err, l.eng.applied)
	}
	l.eng.good = nil
	if err := l.pass(1); err != nil || l.eng.applied != "2.0.0" || l.mr.Status.AtProvider.Rollback != nil {
		t.Errorf("what is not kept any more cannot be gone back to: %v, %s, %+v", err, l.eng.applied, l.mr.Status.AtProvider.Rollback)
	}
}

// TestMistakeIsNotRemembered checks that the state of a failed pass does not make the next pass fail.
func TestMistakeIsNotRemembered(t *testing.T) {
	l := newSimulation(t)
	l.memory = &checkpoint.Memory{}
	l.now = l.now.Add(2 * time.Minute)
	if err := l.pass(3); err != nil {
		t.Fatal(err)
	}
	l.verify, l.eng.good = errors.New("no signature"), nil
	_ = l.pass(1)
	if err := l.pass(1); err != nil || l.eng.applied != "2.0.0" {
		t.Errorf("%v, %s", err, l.eng.applied)
	}
}
