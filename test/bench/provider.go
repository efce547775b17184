// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// ticksPerSecond is the unit of CPU times in /proc: USER_HZ, which is 100 on every platform of Go. See proc_pid_stat(5).
const ticksPerSecond = 100

// A provider is a separate process, so that its usage can be distinguished from that of the servers and the benchmark.
type provider struct {
	process *process.Process
	metrics string
}

// startProvider starts the provider with an empty cache, and returns when it is ready. It uses the defaults, except that it
// does not use leader election, because renewals of the lease would count as writes.
func startProvider(ctx context.Context, binary, dir, kubeconfig string) (*provider, error) {
	metrics, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	process, err := controlplane.StartProvider(ctx, controlplane.ProviderOptions{
		Kubeconfig: kubeconfig, Dir: filepath.Join(dir, "provider-data"), Binary: binary,
		Args: []string{"--metrics-bind-address=" + metrics, "--no-leader-election"},
	})
	if err != nil {
		return nil, err
	}
	return &provider{process: process, metrics: metrics}, nil
}

// requests is the number of requests by verb, including WATCH.
type requests map[string]float64

// A sample is the usage of the provider since its start.
type sample struct {
	target, control requests
	// reconciles is the number of reconciliations by controller.
	reconciles map[string]float64
	cpu        float64 // Seconds.
}

func (p *provider) sample(ctx context.Context) (sample, error) {
	text, err := get(ctx, "http://"+p.metrics+"/metrics")
	if err != nil {
		return sample{}, err
	}
	s := sample{
		target:     counts(text, "provider_kyma_target_requests_total", "verb"),
		control:    counts(text, "provider_kyma_control_plane_requests_total", "verb"),
		reconciles: counts(text, "controller_runtime_reconcile_total", "controller"),
	}
	s.cpu, err = cpuSeconds(p.process.PID())
	return s, err
}

// counts returns the values of a metric in the text format of Prometheus, by a label.
func counts(text, metric, label string) map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(text) {
		labels, ok := strings.CutPrefix(line, metric+"{")
		if !ok {
			continue
		}
		_, value, _ := strings.Cut(labels, label+`="`)
		value, _, _ = strings.Cut(value, `"`)
		n, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), 64)
		if err == nil {
			out[value] += n
		}
	}
	return out
}

// minus returns the difference from an earlier count.
func (r requests) minus(before requests) requests {
	out := requests{}
	for verb, n := range r {
		if n > before[verb] {
			out[verb] = n - before[verb]
		}
	}
	return out
}

// sum returns the total number of requests, without those of the given verbs.
func (r requests) sum(but ...string) float64 {
	total := 0.0
	for _, n := range r {
		total += n
	}
	for _, verb := range but {
		total -= r[verb]
	}
	return total
}

// writes returns the number of requests that change objects.
func (r requests) writes() float64 {
	return r.sum(http.MethodGet, http.MethodHead, "WATCH")
}

// reconciled returns the number of reconciliations of managed resources, which are Manifests and Kymas.
func (s *sample) reconciled() float64 {
	total := 0.0
	for controller, n := range s.reconciles {
		if strings.HasPrefix(controller, "managed/") {
			total += n
		}
	}
	return total
}

// cpuSeconds returns the CPU time of a process in user and system mode, in seconds.
func cpuSeconds(pid int) (float64, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, errors.Wrap(err, "cannot read the CPU time of the provider")
	}
	// The second field is the name in parentheses, which may contain any characters.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 13 {
		return 0, errors.New("cannot read the CPU time of the provider: its stat is too short")
	}
	total := 0.0
	for _, f := range fields[11:13] { // utime and stime, fields 14 and 15 as they are counted there.
		ticks, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return 0, errors.Wrap(err, "cannot read the CPU time of the provider")
		}
		total += ticks / ticksPerSecond
	}
	return total, nil
}

// peakMiB returns the peak resident memory of a process, in MiB.
func peakMiB(pid int) (float64, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, errors.Wrap(err, "cannot read the memory of the provider")
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kib / 1024, errors.Wrap(err, "cannot read the memory of the provider")
		}
	}
	return 0, errors.New("cannot read the memory of the provider: its status has no VmHWM")
}

func get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", errors.Wrap(err, "cannot make a request")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = errors.Errorf("%s answers %s", url, res.Status)
	}
	return string(body), err
}

// freeAddress returns an address that no process listened on a moment ago, with a port outside of the range of outgoing
// connections.
func freeAddress(ctx context.Context) (string, error) {
	port, err := process.FreePort(ctx)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}
