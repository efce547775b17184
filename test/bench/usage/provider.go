// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

const (
	// quietFor is how long the provider must send no requests to count as idle.
	quietFor = 3 * time.Second
	// QuietWithin is a timeout for Quiet.
	QuietWithin = 2 * time.Minute
)

// A Provider is a separate process, so that its usage can be distinguished from that of the servers and the benchmark.
type Provider struct {
	*process.Process

	metrics, profiles string
}

// LeaderElection is an argument of Start with which the provider uses leader election.
const LeaderElection = "--leader-election"

// Start starts the provider with its data in dir/provider-data, and returns when it is ready. It uses the defaults, except that it
// does not use leader election unless args contains LeaderElection, because renewals of the lease count as writes, and that it serves profiles on
// loopback. env is added to its environment.
func Start(ctx context.Context, binary, dir, kubeconfig string, env []string, args ...string) (*Provider, error) {
	metrics, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	profiles, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(args, LeaderElection) {
		args = append(slices.Clone(args), "--no-leader-election")
	}
	p, err := controlplane.StartProvider(ctx, controlplane.ProviderOptions{
		Kubeconfig: kubeconfig, Dir: filepath.Join(dir, "provider-data"), Binary: binary, Env: env,
		Args: append([]string{"--metrics-bind-address=" + metrics, "--pprof-bind-address=" + profiles}, args...),
	})
	if err != nil {
		return nil, err
	}
	out := &Provider{Process: p, metrics: metrics, profiles: profiles}
	// The provider may be ready before it serves metrics.
	err = p.Await(ctx, "ready to serve metrics", func(ctx context.Context) error {
		_, err := out.Sample(ctx)
		return err
	})
	if err != nil {
		p.Stop()
		return nil, err
	}
	return out, nil
}

// A Sample is the usage of the provider since its start.
type Sample struct {
	Target, Control Requests
	// Reconciles is the number of reconciliations by controller.
	Reconciles map[string]float64
	// CPU is the CPU time in seconds, and ChildCPU is that of child processes that have ended.
	CPU, ChildCPU float64
	// RSS and Peak are the resident memory, in MiB.
	RSS, Peak float64
	Metrics   Metrics
}

// Sample reads the current usage.
func (p *Provider) Sample(ctx context.Context) (Sample, error) {
	text, err := process.Get(ctx, http.DefaultClient, "http://"+p.metrics+"/metrics")
	if err != nil {
		return Sample{}, err
	}
	s := Sample{Metrics: Metrics(text)}
	s.Target = s.Metrics.Counts("provider_kyma_target_requests_total", "verb")
	s.Control = s.Metrics.Counts("provider_kyma_control_plane_requests_total", "verb")
	s.Reconciles = s.Metrics.Counts("controller_runtime_reconcile_total", "controller")
	if s.CPU, s.ChildCPU, err = cpuSeconds(p.PID()); err != nil {
		return Sample{}, err
	}
	s.RSS, s.Peak, err = memoryMiB(p.PID())
	return s, err
}

// Quiet waits until the provider sends no more requests, and returns the first sample of the idle time, because the metrics requests
// of the wait cost CPU time, too. Watches that are renewed do not count.
func (p *Provider) Quiet(ctx context.Context, within time.Duration) (Sample, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, errors.Errorf("the provider is not quiet within %s", within))
	defer cancel()
	last, err := p.Sample(ctx)
	if err != nil {
		return Sample{}, err
	}
	for since := time.Now(); time.Since(since) < quietFor; {
		select {
		case <-ctx.Done():
			return Sample{}, context.Cause(ctx)
		case <-time.After(quietFor / 10):
		}
		now, err := p.Sample(ctx)
		if err != nil {
			return Sample{}, err
		}
		if !now.Target.equal(last.Target) || !now.Control.equal(last.Control) {
			last, since = now, time.Now()
		}
	}
	return last, nil
}

// Calm waits until the provider has used little CPU time for a while. Its requests don't matter: a process that waits for the lease reads it every few
// seconds.
func (p *Provider) Calm(ctx context.Context) error {
	const little = 0.05 // A share of one core.
	last, err := p.Sample(ctx)
	if err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return errors.Wrap(context.Cause(ctx), "the provider does not become calm")
		case <-time.After(quietFor):
		}
		now, err := p.Sample(ctx)
		if err != nil {
			return err
		}
		if now.CPU-last.CPU < little*quietFor.Seconds() {
			return nil
		}
		last = now
	}
}

// Profile returns a profile as text: heap, after a garbage collection, or goroutine.
func (p *Provider) Profile(ctx context.Context, name string) (string, error) {
	return process.Get(ctx, http.DefaultClient, "http://"+p.profiles+"/debug/pprof/"+name+"?debug=1&gc=1")
}

// freeAddress returns an address that no process listened on a moment ago, with a port outside of the range of outgoing
// connections.
func freeAddress(ctx context.Context) (string, error) {
	port, err := process.FreePort(ctx)
	return net.JoinHostPort(process.Loopback, strconv.Itoa(port)), err
}
