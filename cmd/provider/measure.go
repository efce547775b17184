// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/events"
	manifestcontroller "github.com/crossplane-contrib/provider-kyma/internal/controller/manifest"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// timedEngine measures the duration of each step that applies a bundle.
type timedEngine struct {
	manifestcontroller.Engine

	observe func(took time.Duration)
}

// Apply calls the engine.
func (e *timedEngine) Apply(ctx context.Context, c cluster.Cluster, b *manifest.Bundle, o ...manifest.CallOption) (manifest.Result, error) {
	begin := time.Now()
	defer func() { e.observe(time.Since(begin)) }()
	return e.Engine.Apply(ctx, c, b, o...)
}

// recordingManager is a manager whose recorders count events, and write them through a queue.
type recordingManager struct {
	ctrl.Manager

	queue  *events.Queue
	counts metrics.Events
}

// newRecordingManager adds a queue of events to a manager, and returns a manager that uses it.
func newRecordingManager(mgr ctrl.Manager, f *flags, m *metrics.Metrics, lead *leadership, log logging.Logger) (*recordingManager, error) {
	c, err := corev1client.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a client for events")
	}
	sink := events.Sink(c.Events(""))
	if f.leaderElection {
		sink = &leaderSink{Sink: sink, check: lead.check}
	}
	q := events.NewQueue(sink, mgr.GetScheme(), log.WithValues("controller", "events"), m.EventsDropped.Count)
	return &recordingManager{Manager: mgr, queue: q, counts: m.Events}, errors.Wrap(mgr.Add(q), "cannot add the queue of events")
}

// Add adds a runnable. The queue stops after the controllers, which record events until their last reconcile ends.
func (m *recordingManager) Add(r manager.Runnable) error {
	if _, ok := r.(reconcile.Reconciler); ok {
		r = m.queue.Producer(r)
	}
	return m.Manager.Add(r) //nolint:wrapcheck // It is the error of the manager.
}

// A leaderSink refuses to write events if another process might be the leader, which may have written newer ones. The queue tries again.
type leaderSink struct {
	events.Sink

	check func() error
}

// CreateWithEventNamespaceWithContext creates an event.
func (s *leaderSink) CreateWithEventNamespaceWithContext(ctx context.Context, e *corev1.Event) (*corev1.Event, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.Sink.CreateWithEventNamespaceWithContext(ctx, e)
}

// PatchWithEventNamespaceWithContext patches an event.
func (s *leaderSink) PatchWithEventNamespaceWithContext(ctx context.Context, e *corev1.Event, data []byte) (*corev1.Event, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.Sink.PatchWithEventNamespaceWithContext(ctx, e, data)
}

// GetEventRecorderFor returns a recorder that counts events.
func (m *recordingManager) GetEventRecorderFor(name string) record.EventRecorder {
	return &countingRecorder{EventRecorder: m.queue.Recorder(name), scheme: m.GetScheme(), events: m.counts}
}

// A countingRecorder counts events. Events can be merged, dropped or rejected on their way to the control plane; the metric contains
// all of them.
type countingRecorder struct {
	record.EventRecorder

	scheme *runtime.Scheme
	events metrics.Events
}

// isRoutine reports whether an event only repeats that the managed reconciler called its external client. The controllers record
// what has changed, and an event costs a request.
func isRoutine(reason string) bool {
	return reason == "CreatedExternalResource" || reason == "UpdatedExternalResource"
}

// Event records an event.
func (r *countingRecorder) Event(o runtime.Object, eventType, reason, message string) {
	r.count(o, eventType, reason)
	r.EventRecorder.Event(o, eventType, reason, message)
}

// Eventf records an event whose message has a format.
func (r *countingRecorder) Eventf(o runtime.Object, eventType, reason, format string, args ...any) {
	r.count(o, eventType, reason)
	r.EventRecorder.Eventf(o, eventType, reason, format, args...)
}

// AnnotatedEventf records an event with annotations, whose message has a format.
func (r *countingRecorder) AnnotatedEventf(o runtime.Object, annotations map[string]string, eventType, reason, format string, args ...any) {
	if isRoutine(reason) {
		return
	}
	r.count(o, eventType, reason)
	r.EventRecorder.AnnotatedEventf(o, annotations, eventType, reason, format, args...)
}

func (r *countingRecorder) count(o runtime.Object, eventType, reason string) {
	kind := "unknown"
	if gvk, err := apiutil.GVKForObject(o, r.scheme); err == nil {
		kind = gvk.Kind
	}
	r.events.Count(kind, eventType, reason)
}
