// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/test/bench/objects"
	"github.com/crossplane-contrib/provider-kyma/test/bench/usage"
)

// chartObjects is the number of objects in the chart of the benchmark.
const chartObjects = 5

// measure measures the installation of the Manifests, and the idle time after it.
func measure(ctx context.Context, e *environment, o options) (*result, error) {
	if err := prepare(ctx, e, o.manifests); err != nil {
		return nil, err
	}
	// Wait until the provider has started and reconciled the ProviderConfig, which are not measured.
	before, err := e.provider.Quiet(ctx, usage.QuietWithin)
	if err != nil {
		return nil, err
	}
	sayf("creating %d Manifests", o.manifests)
	seconds, err := install(ctx, e, o)
	if err != nil {
		return nil, err
	}
	sayf("all are Ready after %.1f s; waiting until the provider is quiet", seconds)
	// Events and the last writes happen later, and count too.
	after, err := e.provider.Quiet(ctx, usage.QuietWithin)
	if err != nil {
		return nil, err
	}
	r := newResult(o.manifests, before, after)
	r.SecondsToReady, r.PeakRSS, r.startPeak, r.startCPU = seconds, after.Peak, before.Peak, before.CPU
	idle, err := watchIdle(ctx, e.provider, o.idle)
	if err != nil {
		return nil, err
	}
	r.addIdle(after, idle)
	return r, nil
}

// watchIdle waits for a duration, and returns a sample after it.
func watchIdle(ctx context.Context, p *usage.Provider, d time.Duration) (usage.Sample, error) {
	sayf("watching it do nothing for %s", d)
	select {
	case <-ctx.Done():
		return usage.Sample{}, context.Cause(ctx)
	case <-time.After(d):
	}
	return p.Sample(ctx)
}

// install creates the Manifests, and returns the seconds from before the first request until all are Ready.
func install(ctx context.Context, e *environment, o options) (float64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, errors.Errorf("not all were Ready within %s", o.timeout))
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	begin := time.Now()
	g.Go(func() error { return createManifests(ctx, e.controlClient, e.source, o.manifests) })
	g.Go(func() error {
		return objects.NewPending(o.manifests, name).Await(ctx, e.controlClient, &v1alpha1.ManifestList{}, namespace)
	})
	err := g.Wait()
	return time.Since(begin).Seconds(), err
}

// newResult returns the usage per Manifest between two samples.
func newResult(n int, before, after usage.Sample) *result {
	target, control := after.Target.Minus(before.Target), after.Control.Minus(before.Control)
	return &result{
		Manifests:      n,
		Objects:        chartObjects,
		TargetRequests: usage.Per(target.Sum(), n),
		Requests:       usage.Per(target.Sum()+control.Sum(), n),
		ControlWrites:  usage.Per(control.Writes(), n),
		CPUSeconds:     usage.Per(after.CPU-before.CPU, n),
		ByVerb:         map[string]usage.Requests{"target": target.Per(n), "control_plane": control.Per(n)},
	}
}

// addIdle adds the requests between two samples of an idle provider.
func (r *result) addIdle(before, after usage.Sample) {
	target, control := after.Target.Minus(before.Target), after.Control.Minus(before.Control)
	r.IdleTargetRequests = target.Sum(usage.Watch)
	r.IdleWrites = target.Writes() + control.Writes()
	r.idleCPU = after.CPU - before.CPU
	r.idle = map[string]usage.Requests{"target": target, "control_plane": control}
}

// reconciled returns the number of reconciliations of managed resources, which are Manifests and Kymas.
func reconciled(s usage.Sample) float64 {
	total := 0.0
	for controller, n := range s.Reconciles {
		if strings.HasPrefix(controller, "managed/") {
			total += n
		}
	}
	return total
}
