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
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/conditions"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// mockEngine returns fixed results.
type mockEngine struct {
	Engine // Tests do not call the other methods.

	observe func() (engine.Observation, error)
	apply   func() (engine.Result, error)
	remove  func() (engine.Removal, error)
	plan    func() (engine.Plan, error)
	// options contains the options of the calls.
	options []engine.CallOptions
}

func (m *mockEngine) ID(b *engine.Bundle) string { return "id-" + b.Name }

func (m *mockEngine) Observe(_ context.Context, _ cluster.Cluster, _ *engine.Bundle, o ...engine.CallOption) (engine.Observation, error) {
	m.options = append(m.options, engine.CallOptionsOf(o...))
	return m.observe()
}

func (m *mockEngine) Exists(context.Context, cluster.Cluster, *engine.Bundle) (bool, error) {
	o, err := m.observe()
	return o.Exists, err
}

func (m *mockEngine) Apply(_ context.Context, _ cluster.Cluster, _ *engine.Bundle, o ...engine.CallOption) (engine.Result, error) {
	m.options = append(m.options, engine.CallOptionsOf(o...))
	return m.apply()
}

func (m *mockEngine) Plan(_ context.Context, _ cluster.Cluster, _ *engine.Bundle, o ...engine.CallOption) (engine.Plan, error) {
	m.options = append(m.options, engine.CallOptionsOf(o...))
	return m.plan()
}

func (m *mockEngine) Remove(_ context.Context, _ cluster.Cluster, _ *engine.Bundle, o ...engine.CallOption) (engine.Removal, error) {
	m.options = append(m.options, engine.CallOptionsOf(o...))
	return m.remove()
}

// recorded contains the recorded events, as reason and message.
type recorded struct {
	events []string
}

func (r *recorded) Event(_ runtime.Object, e event.Event) {
	r.events = append(r.events, string(e.Reason)+": "+e.Message)
}

func (r *recorded) WithAnnotations(...string) event.Recorder { return r }

func deleted(m *v1alpha1.Manifest) {
	now := metav1.NewTime(time.Unix(1, 0))
	m.DeletionTimestamp = &now
}

func TestObserve(t *testing.T) {
	boom := errors.New("cluster is unreachable")
	type want struct {
		o     managed.ExternalObservation
		state v1alpha1.State
		err   bool
	}
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		o      engine.Observation
		err    error
		want   want
	}{
		"Missing": {
			reason: "Without an inventory, the external resource does not exist.",
			mr:     named("n", "m"),
			o:      engine.Observation{State: engine.Processing},
			want:   want{state: v1alpha1.StateProcessing},
		},
		"Drifted": {
			reason: "Drift is reported as the difference. The status is left to Update.",
			mr:     named("n", "m"),
			o:      engine.Observation{Exists: true, State: engine.Processing, Drift: []engine.Drift{{Key: cluster.ObjectRef{Kind: "ConfigMap", Name: "a"}, Kind: engine.DriftDeleted}}},
			want: want{
				o: managed.ExternalObservation{ResourceExists: true, Diff: "ConfigMap a was deleted"},
			},
		},
		"NoUpdate": {
			reason: "If Update is not called, Observe reports the state.",
			mr:     named("n", "m", withPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate)),
			o:      engine.Observation{Exists: true, State: engine.Processing},
			want:   want{o: managed.ExternalObservation{ResourceExists: true}, state: v1alpha1.StateProcessing},
		},
		"NoUpdateFirst": {
			reason: "Without the policy Update, Create performs the steps of the first install.",
			mr:     named("n", "m", withPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate)),
			o:      engine.Observation{Exists: true, Installing: true, State: engine.Processing},
			want:   want{state: v1alpha1.StateProcessing},
		},
		"UpdateFirst": {
			reason: "With the policy Update, Update performs the steps of the first install.",
			mr:     named("n", "m"),
			o:      engine.Observation{Exists: true, Installing: true, State: engine.Processing},
			want:   want{o: managed.ExternalObservation{ResourceExists: true}},
		},
		"NoCreate": {
			reason: "Without the policy Create, nothing is installed, and Observe reports this.",
			mr:     named("n", "m", withPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)),
			o:      engine.Observation{State: engine.Processing},
			want:   want{o: managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, state: v1alpha1.StateProcessing},
		},
		"Ready": {
			reason: "If the module is up to date, Observe reports the state.",
			mr:     named("n", "m"),
			o:      engine.Observation{Exists: true, UpToDate: true, State: engine.Ready},
			want:   want{o: managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, state: v1alpha1.StateReady},
		},
		"Deleting": {
			reason: "A Manifest that is being deleted is never updated.",
			mr:     named("n", "m", deleted),
			o:      engine.Observation{Exists: true, State: engine.Processing},
			want:   want{o: managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, state: v1alpha1.StateDeleting},
		},
		"Unreachable": {
			reason: "If the cluster cannot be observed, Observe returns an error and reports the state Error.",
			mr:     named("n", "m"),
			err:    boom,
			want:   want{err: true, state: v1alpha1.StateError},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := externalOf(&mockEngine{observe: func() (engine.Observation, error) { return tc.o, tc.err }}, &engine.Bundle{}, &recorded{})
			o, err := e.Observe(t.Context(), tc.mr)
			got := want{o: o, state: tc.mr.Status.AtProvider.State, err: err != nil}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFirstUpdate checks that the external name is set before Update performs the first install, if the policies allow it.
func TestFirstUpdate(t *testing.T) {
	cases := map[string]struct {
		reason string
		mr     *v1alpha1.Manifest
		want   bool
	}{
		"All":     {reason: "Update installs the module.", mr: named("n", "m"), want: true},
		"Create":  {reason: "Without the policy Update, Create does.", mr: named("n", "m", withPolicies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate))},
		"Started": {reason: "What has a finalizer, but no name, would not be written before Update.", mr: named("n", "m", finalized)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := externalOf(&mockEngine{observe: func() (engine.Observation, error) {
				return engine.Observation{State: engine.Processing}, nil
			}}, &engine.Bundle{Name: "n.m"}, &recorded{})
			e.firstUpdate = true
			o, err := e.Observe(t.Context(), tc.mr)
			if err != nil || o.ResourceExists != tc.want || o.ResourceUpToDate || (meta.GetExternalName(tc.mr) == "n.m") != tc.want {
				t.Errorf("\n%s\nObserve(...): want exists %t, got %+v, %v, external name %q", tc.reason, tc.want, o, err, meta.GetExternalName(tc.mr))
			}
		})
	}
}

// finalized gives a Manifest the finalizer of the managed reconciler.
func finalized(mr *v1alpha1.Manifest) { mr.Finalizers = []string{managed.FinalizerName} }

func TestCreate(t *testing.T) {
	again := 0
	r := &recorded{}
	e := externalOf(&mockEngine{apply: func() (engine.Result, error) {
		return engine.Result{Installed: []string{"web 1.0.0"}, HooksRun: 2}, nil
	}}, &engine.Bundle{Name: "n.m"}, r)
	e.again = func() { again++ }
	mr := named("n", "m")
	if _, err := e.Create(t.Context(), mr); err != nil {
		t.Fatal(err)
	}
	if meta.GetExternalName(mr) != "n.m" || again != 1 {
		t.Errorf("Create(...) must set the external name (%q) and ask for another look (%d)", meta.GetExternalName(mr), again)
	}
	want := []string{
		"Installed: Installed web 1.0.0",
		"HooksSucceeded: 2 hooks of web 1.0.0 succeeded",
	}
	if diff := cmp.Diff(want, r.events); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

func TestUpdate(t *testing.T) {
	boom := errors.New("a: refused")
	r := &recorded{}
	e := externalOf(&mockEngine{
		apply: func() (engine.Result, error) {
			return engine.Result{
				Repaired: []engine.Drift{{Key: cluster.ObjectRef{Kind: "ConfigMap", Namespace: "x", Name: "a"}, Fields: []string{"data.k"}}},
				Pruned:   []cluster.ObjectRef{{Kind: "Secret", Namespace: "x", Name: "s"}},
			}, boom
		},
		observe: func() (engine.Observation, error) {
			return engine.Observation{Exists: true, State: engine.Error, Message: "a: refused"}, nil
		},
	}, &engine.Bundle{}, r)
	mr := named("n", "m")
	if _, err := e.Update(t.Context(), mr); !errors.Is(err, boom) {
		t.Errorf("Update(...): the error of the engine is lost: %v", err)
	}
	at := mr.Status.AtProvider
	drift := []v1alpha1.DriftedObject{{
		ObjectReference: v1alpha1.ObjectReference{Kind: "ConfigMap", Namespace: "x", Name: "a"}, Change: "Changed", Fields: []string{"data.k"},
	}}
	if diff := cmp.Diff(drift, at.Drift.Objects); diff != "" || at.State != v1alpha1.StateError || at.Message != "a: refused" {
		t.Errorf("Update(...): status %+v", at)
	}
	want := []string{
		"DriftRepaired: Repaired drift: ConfigMap x/a was changed at data.k",
		"Pruned: Pruned objects that the module no longer contains: Secret x/s",
	}
	if diff := cmp.Diff(want, r.events); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

// TestUpdateCannotObserve checks that the observation of Observe is reported if the result of Update cannot be observed.
func TestUpdateCannotObserve(t *testing.T) {
	boom, observed := errors.New("cluster is unreachable"), 0
	e := externalOf(&mockEngine{
		apply: func() (engine.Result, error) { return engine.Result{}, nil },
		observe: func() (engine.Observation, error) {
			if observed++; observed > 1 {
				return engine.Observation{}, boom
			}
			return engine.Observation{Exists: true, State: engine.Processing, Ready: 1, Total: 2}, nil
		},
	}, &engine.Bundle{}, &recorded{})
	mr := named("n", "m")
	if _, err := e.Observe(t.Context(), mr); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), mr); !errors.Is(err, boom) {
		t.Errorf("Update(...): want the error, got %v", err)
	}
	want := v1alpha1.ManifestObservation{State: v1alpha1.StateError, Message: boom.Error(), Resources: &v1alpha1.ResourceCounts{Ready: 1, Total: 2}}
	if diff := cmp.Diff(want, mr.Status.AtProvider); diff != "" {
		t.Errorf("Update(...): -want, +got:\n%s", diff)
	}
}

func TestDelete(t *testing.T) {
	blocked := engine.Removal{State: engine.Warning, Message: "1 object is left"}
	again := 0
	r := &recorded{}
	removal := blocked
	e := externalOf(&mockEngine{remove: func() (engine.Removal, error) { return removal, nil }}, &engine.Bundle{}, r)
	e.again = func() { again++ }
	mr := named("n", "m", deleted)
	for range 2 {
		if _, err := e.Delete(t.Context(), mr); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"RemovalBlocked: 1 object is left"}, r.events); diff != "" {
		t.Errorf("what blocks is told once: -want, +got:\n%s", diff)
	}
	if mr.Status.AtProvider.State != v1alpha1.StateWarning || again != 0 {
		t.Errorf("Delete(...): state %s, looked again %d times", mr.Status.AtProvider.State, again)
	}
	removal.Message = strings.Repeat("x", 2*conditions.MaxMessage)
	for range 2 {
		if _, err := e.Delete(t.Context(), mr); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.events) != 2 {
		t.Errorf("a message too long for the status is told once, too, not %d times", len(r.events)-1)
	}
	removal = engine.Removal{Gone: true}
	if _, err := e.Delete(t.Context(), mr); err != nil || again != 1 {
		t.Errorf("Delete(...): once all is gone the finalizer must go at once: %v, %d", err, again)
	}
}

func TestConnectReports(t *testing.T) {
	c := &connector{usage: tracker(func() error { return errors.New("no") }), record: &recorded{}}
	mr := named("n", "m")
	if _, err := c.Connect(t.Context(), mr); err == nil {
		t.Fatal("Connect(...): want the error of the tracker")
	}
	if cond := mr.GetCondition(xpv2.TypeReady); cond.Status != corev1.ConditionFalse {
		t.Errorf("Connect(...): a Manifest whose cluster is unknown must not stay ready: %v", cond)
	}
}
