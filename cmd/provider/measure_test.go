// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	manifestcontroller "github.com/crossplane-contrib/provider-kyma/internal/controller/manifest"
	"github.com/crossplane-contrib/provider-kyma/internal/controller/settings"
	"github.com/crossplane-contrib/provider-kyma/internal/metrics"
	"github.com/crossplane-contrib/provider-kyma/internal/version"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// recording is a manager with a scheme and a recorder of events.
type recording struct {
	ctrl.Manager

	scheme   *runtime.Scheme
	recorder *record.FakeRecorder
}

func (r *recording) GetScheme() *runtime.Scheme { return r.scheme }

func (r *recording) GetEventRecorderFor(string) record.EventRecorder { return r.recorder }

// TestCountingManager checks that events of controllers are counted and recorded, also for objects without a type.
func TestCountingManager(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	registry, recorder := prometheus.NewRegistry(), record.NewFakeRecorder(10)
	m := &countingManager{Manager: &recording{scheme: scheme, recorder: recorder}, events: metrics.New(registry, version.Build{}).Events}
	r := settings.Recorder(m, "x")
	r.Event(&v1alpha1.Manifest{}, event.Normal("Installed", "Installed a"))
	r.Event(&v1alpha1.Manifest{}, event.Normal("Installed", "Installed b"))
	r.Event(&v1alpha1.Kyma{}, event.Warning("HookFailed", errors.New("boom")))
	m.GetEventRecorderFor("x").Event(&v1alpha1.Manifest{}, "Normal", "Plain", "x")
	m.GetEventRecorderFor("x").Eventf(&runtime.Unknown{}, "Normal", "Format", "%d", 1)
	const want = `
# HELP provider_kyma_events_total Total number of events that the provider recorded, by kind of the object, type (Normal or Warning) and reason.
# TYPE provider_kyma_events_total counter
provider_kyma_events_total{kind="Kyma",reason="HookFailed",type="Warning"} 1
provider_kyma_events_total{kind="Manifest",reason="Installed",type="Normal"} 2
provider_kyma_events_total{kind="Manifest",reason="Plain",type="Normal"} 1
provider_kyma_events_total{kind="unknown",reason="Format",type="Normal"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "provider_kyma_events_total"); err != nil {
		t.Error(err)
	}
	if n := len(recorder.Events); n != 5 {
		t.Errorf("want 5 recorded events, got %d", n)
	}
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
