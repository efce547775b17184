// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// objects is the number of objects in the chart of the benchmark.
const objects = 5

const (
	// quietFor is how long the provider must send no requests to count as idle.
	quietFor = 3 * time.Second
	// quietWithin is the timeout of the wait for an idle provider.
	quietWithin = 2 * time.Minute
)

// measure measures the installation of the Manifests, and the idle time after it.
func measure(ctx context.Context, e *environment, o options) (*result, error) {
	if err := prepare(ctx, e, o.manifests); err != nil {
		return nil, err
	}
	// Wait until the provider has started and reconciled the ProviderConfig, which are not measured.
	before, err := e.provider.quiet(ctx)
	if err != nil {
		return nil, err
	}
	startPeak, err := peakMiB(e.provider.process.PID())
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
	after, err := e.provider.quiet(ctx)
	if err != nil {
		return nil, err
	}
	r := newResult(o.manifests, before, after)
	r.SecondsToReady, r.startPeak, r.startCPU = seconds, startPeak, before.cpu
	if r.PeakRSS, err = peakMiB(e.provider.process.PID()); err != nil {
		return nil, err
	}
	idle, err := e.provider.idle(ctx, o.idle)
	if err != nil {
		return nil, err
	}
	r.addIdle(after, idle)
	return r, nil
}

// idle waits for a duration, and returns a sample after it.
func (p *provider) idle(ctx context.Context, d time.Duration) (sample, error) {
	sayf("watching it do nothing for %s", d)
	select {
	case <-ctx.Done():
		return sample{}, context.Cause(ctx)
	case <-time.After(d):
	}
	return p.sample(ctx)
}

// install creates the Manifests, and returns the seconds from before the first request until all are Ready.
func install(ctx context.Context, e *environment, o options) (float64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, errors.Errorf("not all were Ready within %s", o.timeout))
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	begin := time.Now()
	g.Go(func() error { return createManifests(ctx, e.controlClient, e.source, o.manifests) })
	g.Go(func() error {
		return newPending(o.manifests).await(ctx, e.controlClient, &v1alpha1.ManifestList{}, namespace)
	})
	err := g.Wait()
	return time.Since(begin).Seconds(), err
}

// quiet waits until the provider sends no more requests, and returns the first sample of the idle time, because the
// metrics requests of the wait cost CPU time, too.
func (p *provider) quiet(ctx context.Context) (sample, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, quietWithin, errors.Errorf("the provider is not quiet within %s", quietWithin))
	defer cancel()
	last, err := p.sample(ctx)
	if err != nil {
		return sample{}, err
	}
	for since := time.Now(); time.Since(since) < quietFor; {
		select {
		case <-ctx.Done():
			return sample{}, context.Cause(ctx)
		case <-time.After(quietFor / 10):
		}
		now, err := p.sample(ctx)
		if err != nil {
			return sample{}, err
		}
		if !maps.Equal(now.target, last.target) || !maps.Equal(now.control, last.control) {
			last, since = now, time.Now()
		}
	}
	return last, nil
}

// newResult returns the usage per Manifest between two samples.
func newResult(n int, before, after sample) *result {
	target, control := after.target.minus(before.target), after.control.minus(before.control)
	return &result{
		Manifests:      n,
		Objects:        objects,
		TargetRequests: per(target.sum(), n),
		Requests:       per(target.sum()+control.sum(), n),
		ControlWrites:  per(control.writes(), n),
		CPUSeconds:     per(after.cpu-before.cpu, n),
		ByVerb:         map[string]requests{"target": target.per(n), "control_plane": control.per(n)},
	}
}

// addIdle adds the requests between two samples of an idle provider.
func (r *result) addIdle(before, after sample) {
	target, control := after.target.minus(before.target), after.control.minus(before.control)
	r.IdleTargetRequests = target.sum("WATCH")
	r.IdleWrites = target.writes() + control.writes()
	r.idleCPU = after.cpu - before.cpu
	r.idle = map[string]requests{"target": target, "control_plane": control}
}

// per returns the total per install, rounded to four decimals.
func per(total float64, n int) float64 { return math.Round(total/float64(n)*1e4) / 1e4 }

func (r requests) per(n int) requests {
	out := requests{}
	for verb, total := range r {
		out[verb] = per(total, n)
	}
	return out
}

func (r requests) verbs() []string { return slices.Sorted(maps.Keys(r)) }
