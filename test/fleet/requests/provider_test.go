// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// A provider is the provider as a process.
type provider struct {
	dir, kubeconfig, binary string
	// elects is true if it uses leader election. Renewals of the lease count as writes.
	elects bool

	process *process.Process
	metrics string
}

// start starts the provider with additional flags.
func (p *provider) start(ctx context.Context, args ...string) error {
	port, err := process.FreePort(ctx)
	if err != nil {
		return err
	}
	p.metrics = net.JoinHostPort(process.Loopback, strconv.Itoa(port))
	election := "--no-leader-election"
	if p.elects {
		election = "--leader-election-namespace=" + namespace
	}
	p.process, err = controlplane.StartProvider(ctx, controlplane.ProviderOptions{
		Kubeconfig: p.kubeconfig, Dir: filepath.Join(p.dir, "provider-data"), Binary: p.binary,
		Args: append([]string{"--metrics-bind-address=" + p.metrics, election}, args...),
	})
	if err != nil {
		return err
	}
	return p.awaitMetrics(ctx)
}

// awaitMetrics waits until the provider serves metrics, which can be later than it is ready.
func (p *provider) awaitMetrics(ctx context.Context) error {
	return p.process.Await(ctx, "serving metrics", func(ctx context.Context) error {
		return process.CheckURL(ctx, http.DefaultClient, "http://"+p.metrics+"/metrics")
	})
}

// reconciles returns the number of reconciles by controller.
func (p *provider) reconciles(ctx context.Context) (map[string]int, error) {
	text, err := process.Get(ctx, http.DefaultClient, "http://"+p.metrics+"/metrics")
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the metrics")
	}
	out := map[string]int{}
	for line := range strings.Lines(text) {
		labels, ok := strings.CutPrefix(line, "controller_runtime_reconcile_total{")
		if !ok {
			continue
		}
		_, name, _ := strings.Cut(labels, `controller="`)
		name, _, _ = strings.Cut(name, `"`)
		n, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), 64)
		if err != nil {
			return nil, errors.Wrap(err, "cannot parse a metric")
		}
		out[name] += int(n)
	}
	return out, nil
}
