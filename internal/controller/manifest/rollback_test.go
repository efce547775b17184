// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

var began = time.Unix(1_700_000_000, 0).UTC()

func watching(message string) *v1alpha1.RollbackStatus {
	return &v1alpha1.RollbackStatus{Desired: "two", Since: metav1.NewTime(began), Version: "1.0.0", Message: message}
}

func TestDecided(t *testing.T) {
	failed := &v1alpha1.Rollback{On: v1alpha1.RollbackOnFailed, After: metav1.Duration{Duration: time.Minute}}
	notReady := &v1alpha1.Rollback{On: v1alpha1.RollbackOnNotReady, After: metav1.Duration{Duration: time.Minute}}
	unquoted := &v1alpha1.Rollback{On: v1alpha1.RollbackOnFailed, True: v1alpha1.RollbackOnNotReady, After: metav1.Duration{Duration: time.Minute}}
	moved := watching("")
	moved.Since = metav1.NewTime(began.Add(30 * time.Second))
	back := watching("boom")
	back.RolledBack = true
	cases := map[string]struct {
		reason  string
		was     *v1alpha1.RollbackStatus
		policy  *v1alpha1.Rollback
		state   engine.State
		elapsed time.Duration
		want    *v1alpha1.RollbackStatus
	}{
		"Ready":            {reason: "An upgrade that works ends the wait.", was: watching("boom"), policy: failed, state: engine.Ready, elapsed: time.Hour},
		"Failing":          {reason: "One that fails is given its time.", was: watching(""), policy: failed, state: engine.Error, elapsed: 59 * time.Second, want: watching("boom")},
		"Failed":           {reason: "Then it is rolled back.", was: watching("boom"), policy: failed, state: engine.Error, elapsed: time.Minute, want: back},
		"FailedLate":       {reason: "The time counts from when the upgrade began, not from the first failure.", was: watching(""), policy: failed, state: engine.Error, elapsed: time.Minute, want: back},
		"Progressing":      {reason: "One that is not ready yet does not fail.", was: watching(""), policy: failed, state: engine.Processing, elapsed: time.Hour, want: watching("")},
		"Warned":           {reason: "A warning is no failure.", was: watching(""), policy: failed, state: engine.Warning, elapsed: time.Hour, want: watching("")},
		"Interrupted":      {reason: "One that fails no more gets its time anew.", was: watching("boom"), policy: failed, state: engine.Processing, elapsed: 30 * time.Second, want: moved},
		"NotReady":         {reason: "With NotReady any other state counts.", was: watching("boom"), policy: notReady, state: engine.Processing, elapsed: time.Minute, want: back},
		"Unquoted":         {reason: "A key on that YAML 1.1 read as true counts before the default of on.", was: watching("boom"), policy: unquoted, state: engine.Processing, elapsed: time.Minute, want: back},
		"NotReadyYet":      {reason: "After the same time.", was: watching(""), policy: notReady, state: engine.Warning, elapsed: time.Second, want: watching("boom")},
		"NotReadyAndReady": {reason: "Ready ends it.", was: watching("boom"), policy: notReady, state: engine.Ready, elapsed: time.Hour},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := decided(tc.was, tc.policy, engine.Observation{State: tc.state, Message: "boom"}, began.Add(tc.elapsed))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ndecided(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBegin(t *testing.T) {
	started := &v1alpha1.RollbackStatus{Desired: "two", Since: metav1.NewTime(began), Version: "1.0.0"}
	good := &snapshot{digest: "one", Parameters: v1alpha1.ManifestParameters{Version: "1.0.0"}}
	with := func(desired string, back bool) *v1alpha1.RollbackStatus {
		return &v1alpha1.RollbackStatus{Desired: desired, RolledBack: back}
	}
	token := tokenOf(named("n", "m", requested("again")))
	cases := map[string]struct {
		reason string
		was    *v1alpha1.RollbackStatus
		good   *snapshot
		change func(m *v1alpha1.Manifest)
		want   *v1alpha1.RollbackStatus
	}{
		"First":      {reason: "A first install has nothing to go back to."},
		"GoodIsGone": {reason: "Without it no rollback goes on.", was: with("two", true)},
		"Good":       {reason: "What is good is not watched.", good: &snapshot{digest: "two"}, was: with("three", true)},
		"Upgrade":    {reason: "What differs is.", good: good, want: started},
		"Watching":   {reason: "It goes on.", good: good, was: with("two", false), want: with("two", false)},
		"RolledBack": {reason: "What was rolled back stays so.", good: good, was: with("two", true), want: with("two", true)},
		"Newer":      {reason: "Another version ends it.", good: good, was: with("other", true), want: started},
		"Retry": {
			reason: "So does a request to try again.", good: good, was: with("two", true), change: requested("again"),
			want: &v1alpha1.RollbackStatus{Desired: "two-" + token, Since: metav1.NewTime(began), Version: "1.0.0"},
		},
		"Retried":  {reason: "It is one request.", good: good, was: with("two-"+token, true), change: requested("again"), want: with("two-"+token, true)},
		"TokenOut": {reason: "To take it back asks for nothing.", good: good, was: with("two-"+token, true), want: with("two-"+token, true)},
		"Atomic": {
			reason: "What an install asks for is known later.", good: good,
			change: func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Rollback = nil },
			want:   &v1alpha1.RollbackStatus{Desired: "atomic90-two", Since: metav1.NewTime(began), Version: "1.0.0"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := named("n", "m", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Rollback = &v1alpha1.Rollback{} })
			mr.Status.AtProvider.Rollback = tc.was
			if tc.change != nil {
				tc.change(mr)
			}
			r := &rollback{desired: &snapshot{digest: "two"}, now: func() time.Time { return began }}
			if diff := cmp.Diff(tc.want, r.begin(mr, tc.good, policyOf(mr, 90*time.Second))); diff != "" {
				t.Errorf("\n%s\nbegin(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPolicyOf holds that what an install asks for with Atomic is what Helm does: what is not ready in time is rolled back.
func TestPolicyOf(t *testing.T) {
	own := &v1alpha1.Rollback{On: v1alpha1.RollbackOnFailed, After: metav1.Duration{Duration: time.Hour}}
	atomic := func(d time.Duration) *v1alpha1.Rollback {
		return &v1alpha1.Rollback{On: v1alpha1.RollbackOnNotReady, After: metav1.Duration{Duration: d}}
	}
	cases := map[string]struct {
		reason  string
		own     *v1alpha1.Rollback
		desired string
		atomic  time.Duration
		want    *v1alpha1.Rollback
	}{
		"None":   {reason: "Nobody asked for it.", desired: "two"},
		"Own":    {reason: "What the Manifest says counts.", own: own, atomic: time.Minute, want: own},
		"Atomic": {reason: "It has the time of the install.", atomic: time.Minute, want: atomic(time.Minute)},
		"Status": {reason: "What was brought back need not ask for it.", desired: "atomic90-two", want: atomic(90 * time.Second)},
		"Other":  {reason: "A digest is none.", desired: "atomicity-two"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := named("n", "m", func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Rollback = tc.own })
			mr.Status.AtProvider.Rollback = &v1alpha1.RollbackStatus{Desired: tc.desired}
			if diff := cmp.Diff(tc.want, policyOf(mr, tc.atomic)); diff != "" {
				t.Errorf("\n%s\npolicyOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func requested(token string) func(m *v1alpha1.Manifest) {
	return func(m *v1alpha1.Manifest) {
		meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyReconcileRequestedAt: token})
	}
}

// A cluster of which the engine says that everything with version bad fails.
type versions struct {
	mockEngine

	good    []byte
	applied string
	fails   map[string]bool
	log     []string
}

func versionIn(s *engine.Set) string {
	v, _ := s.Installs[0].Values["v"].(string)
	return v
}

func (v *versions) Observe(_ context.Context, _ cluster.Cluster, s *engine.Set) (engine.Observation, error) {
	o := engine.Observation{Exists: true, Good: v.good, State: engine.Processing, Message: "is being applied"}
	switch want := versionIn(s); {
	case v.applied != want:
	case v.fails[want]:
		o.State, o.Message, o.UpToDate = engine.Error, "web: broken", true
	default:
		o.State, o.Message, o.UpToDate = engine.Ready, "", cmp.Equal(v.good, s.Good)
	}
	return o, nil
}

func (v *versions) Apply(_ context.Context, _ cluster.Cluster, s *engine.Set) (engine.Result, error) {
	want := versionIn(s)
	if v.applied == want && !v.fails[want] {
		v.good = s.Good
		return engine.Result{}, nil
	}
	v.applied = want
	if s.RollingBack {
		want += " rolling back"
	}
	v.log = append(v.log, want)
	return engine.Result{Changed: 1}, nil
}

// A life is a Manifest over several passes of the reconciler, in each of which the process is another one.
type life struct {
	t      *testing.T
	mr     *v1alpha1.Manifest
	eng    *versions
	now    time.Time
	record recorded
	verify error
}

func (l *life) want(v string) {
	l.mr.Spec.ForProvider.Version = v
	l.mr.Spec.ForProvider.Installs[0].Values = &runtime.RawExtension{Raw: []byte(`{"v":"` + v + `"}`)}
}

func (l *life) pass(times int) error {
	var last error
	for range times {
		c := &content{}
		set, err := c.setOf(l.mr)
		if err != nil {
			l.t.Fatal(err)
		}
		e := &external{
			engine: l.eng, set: set, record: &l.record, again: func() {},
			rollback: &rollback{
				setOf: c.setOf, verify: func(context.Context, *v1alpha1.Manifest) error { return l.verify },
				now: func() time.Time { return l.now },
			},
		}
		var o struct{ up bool }
		seen, err := e.Observe(l.t.Context(), l.mr)
		o.up, last = seen.ResourceUpToDate, err
		if err == nil && !o.up {
			if _, err := e.Update(l.t.Context(), l.mr); err != nil {
				l.t.Fatal(err)
			}
		}
	}
	return last
}

func newLife(t *testing.T) *life {
	t.Helper()
	l := &life{t: t, now: began, eng: &versions{fails: map[string]bool{"2.0.0": true}}}
	l.mr = named("n", "m", func(m *v1alpha1.Manifest) {
		m.Spec.ForProvider.Rollback = &v1alpha1.Rollback{On: v1alpha1.RollbackOnFailed, After: metav1.Duration{Duration: time.Minute}}
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
	l := newLife(t)
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
	const text = "rolled back to 1.0.0 as 2.0.0 did not work: web: broken"
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
		t.Errorf("there is no fight: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"RolledBack: is being " + text}, l.record.events); diff != "" {
		t.Errorf("it is told of once: -want, +got:\n%s", diff)
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

// While an upgrade is waited for that fails, another one gets its own time.
func TestNewerVersionCancelsTheWait(t *testing.T) {
	l := newLife(t)
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

func TestRollbackVerified(t *testing.T) {
	l := newLife(t)
	l.now, l.verify = l.now.Add(time.Hour), errors.New("no signature")
	_ = l.pass(1)
	if err := l.pass(1); err == nil || !strings.Contains(err.Error(), "cannot roll back: no signature") || l.eng.applied != "2.0.0" {
		t.Errorf("a rollback must not pass by a signature: %v, %s", err, l.eng.applied)
	}
}

func TestNoRollback(t *testing.T) {
	for name, change := range map[string]func(l *life){
		"NoPolicy": func(l *life) { l.mr.Spec.ForProvider.Rollback = nil },
		"NoUpdate": func(l *life) {
			l.mr.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t)
			change(l)
			l.now = l.now.Add(time.Hour)
			if err := l.pass(2); err != nil || l.mr.Status.AtProvider.Rollback != nil || l.eng.applied != "2.0.0" {
				t.Errorf("nothing is rolled back: %v, %+v", err, l.mr.Status.AtProvider.Rollback)
			}
		})
	}
}

func FuzzReadSnapshot(f *testing.F) {
	s := &snapshot{Format: snapshotFormat}
	if err := s.seal(); err != nil {
		f.Fatal(err)
	}
	f.Add(s.data)
	f.Fuzz(func(_ *testing.T, data []byte) {
		if s := readSnapshot(data); s != nil {
			s.restored(named("n", "m"))
		}
	})
}
