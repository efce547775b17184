// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/events"
	manifestcontroller "github.com/crossplane-contrib/provider-kyma/internal/controller/manifest"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// TestRecordingManager checks that a recorder counts events and queues them, except those that say nothing new.
func TestRecordingManager(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	m, written := metrics.New(registry, version.Build{}), make(sink, 10)
	q := events.NewQueue(written, scheme, logging.NewNopLogger(), m.EventsDropped.Count)
	r := settings.Recorder(&recordingManager{Manager: &schemed{scheme: scheme}, queue: q, counts: m.Events}, "x")
	r.Event(&v1alpha1.Manifest{}, event.Normal("Installed", "Installed a"))
	r.Event(&v1alpha1.Manifest{}, event.Normal("Installed", "Installed b"))
	r.WithAnnotations("external-name", "x").Event(&v1alpha1.Manifest{}, event.Normal("CreatedExternalResource", "x"))
	r.Event(&v1alpha1.Manifest{}, event.Normal("UpdatedExternalResource", "x"))
	r.Event(&v1alpha1.Kyma{}, event.Warning("HookFailed", errors.New("boom")))
	r.Event(&runtime.Unknown{}, event.Normal("Unknown", "x"))
	const want = `
# HELP provider_kyma_events_dropped_total Total number of events that were not written to the control plane, by cause (Full, Expired, Rejected, Frequent or Stopped).
# TYPE provider_kyma_events_dropped_total counter
provider_kyma_events_dropped_total{cause="Rejected"} 1
# HELP provider_kyma_events_total Total number of events that the provider recorded, by kind of the object, type (Normal or Warning) and reason.
# TYPE provider_kyma_events_total counter
provider_kyma_events_total{kind="Kyma",reason="HookFailed",type="Warning"} 1
provider_kyma_events_total{kind="Manifest",reason="Installed",type="Normal"} 2
provider_kyma_events_total{kind="unknown",reason="Unknown",type="Normal"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "provider_kyma_events_total", "provider_kyma_events_dropped_total"); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.Start(ctx); err != nil || len(written) != 3 {
		t.Errorf("Start(...): want 3 written events, got %d, %v", len(written), err)
	}
}

// TestLeaderSink checks that a process that might not be the leader writes no events.
func TestLeaderSink(t *testing.T) {
	boom := errors.New("not the leader")
	cases := map[string]struct {
		reason string
		err    error
		want   int
	}{
		"Leader": {reason: "The leader writes events.", want: 1},
		"Former": {reason: "Another process may be the leader now.", err: boom},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			written := make(sink, 2)
			s := &leaderSink{Sink: written, check: func() error { return tc.err }}
			_, created := s.CreateWithEventNamespaceWithContext(t.Context(), &corev1.Event{})
			_, patched := s.PatchWithEventNamespaceWithContext(t.Context(), &corev1.Event{}, nil)
			if !errors.Is(created, tc.err) || !errors.Is(patched, tc.err) || len(written) != tc.want {
				t.Errorf("\n%s\nwant %d events and error %v, got %d, %v, %v", tc.reason, tc.want, tc.err, len(written), created, patched)
			}
		})
	}
}

// TestAddedController checks that the queue of events stops after controllers, and that other runnables are added as they are.
func TestAddedController(t *testing.T) {
	m := &schemed{scheme: runtime.NewScheme()}
	r := &recordingManager{Manager: m, queue: events.NewQueue(make(sink), m.scheme, logging.NewNopLogger(), func(string) {})}
	other, controller := manager.RunnableFunc(func(context.Context) error { return nil }), &controllerOf{}
	for _, a := range []manager.Runnable{other, controller} {
		if err := r.Add(a); err != nil {
			t.Fatal(err)
		}
	}
	_, same := m.added[0].(manager.RunnableFunc)
	_, unwrapped := m.added[1].(*controllerOf)
	if !same || unwrapped {
		t.Errorf("Add(...): want a function and a producer, got %T and %T", m.added[0], m.added[1])
	}
	if err := m.added[1].Start(t.Context()); err != nil || !controller.started {
		t.Errorf("Start(...): want a started controller, got %t, %v", controller.started, err)
	}
}

// controllerOf is a controller that does nothing.
type controllerOf struct {
	reconcile.Reconciler

	started bool
}

func (c *controllerOf) Start(context.Context) error {
	c.started = true
	return nil
}

// schemed is a manager with a scheme only, which keeps runnables.
type schemed struct {
	ctrl.Manager

	scheme *runtime.Scheme
	added  []manager.Runnable
}

func (s *schemed) Add(r manager.Runnable) error {
	s.added = append(s.added, r)
	return nil
}

func (s *schemed) GetScheme() *runtime.Scheme { return s.scheme }

// sink keeps events.
type sink chan *corev1.Event

func (s sink) CreateWithEventNamespaceWithContext(_ context.Context, e *corev1.Event) (*corev1.Event, error) {
	s <- e
	return e, nil
}

func (s sink) PatchWithEventNamespaceWithContext(_ context.Context, e *corev1.Event, _ []byte) (*corev1.Event, error) {
	return e, nil
}

// applied is an engine that only applies.
type applied struct {
	manifestcontroller.Engine
}

func (applied) Apply(context.Context, cluster.Cluster, *manifest.Bundle, ...manifest.CallOption) (manifest.Result, error) {
	return manifest.Result{Created: 1}, errors.New("boom")
}

// TestTimedEngine checks that each step is measured, and that its result is returned.
func TestTimedEngine(t *testing.T) {
	steps := 0
	e := &timedEngine{Engine: applied{}, observe: func(time.Duration) { steps++ }}
	r, err := e.Apply(t.Context(), nil, nil)
	if steps != 1 || r.Created != 1 || err == nil {
		t.Errorf("Apply(...): want one step and its result, got %d, %v, %v", steps, r, err)
	}
}
