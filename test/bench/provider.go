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
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
)

// ticksPerSecond is the unit of CPU times in /proc: USER_HZ, 100 on each
// platform that Go runs on. See proc_pid_stat(5).
const ticksPerSecond = 100

// A provider is a process of its own, so that what it uses can be told from what
// the servers and the benchmark use.
type provider struct {
	process *controlplane.Process
	metrics string
}

// startProvider with its defaults and an empty cache, and return once it is ready.
func startProvider(ctx context.Context, binary, dir, kubeconfig string) (*provider, error) {
	metrics, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	health, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	p := &provider{metrics: metrics}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "KUBECONFIG=" + kubeconfig}
	p.process, err = controlplane.StartProcess(dir, "provider", binary, env,
		"--metrics-bind-address="+metrics, "--health-probe-bind-addr="+health, "--cache-dir="+filepath.Join(dir, "cache"))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := get(ctx, "http://"+health+"/readyz")
		if err == nil {
			return p, nil
		}
		select {
		case <-p.process.Done():
			return p, p.process.Err()
		case <-ctx.Done():
			return p, errors.Wrap(err, "the provider is not ready in time")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// requests by verb; WATCH is a verb of its own.
type requests map[string]float64

// A sample is what the provider has used since its start.
type sample struct {
	target, control requests
	cpu             float64 // Seconds.
}

func (p *provider) sample(ctx context.Context) (sample, error) {
	text, err := get(ctx, "http://"+p.metrics+"/metrics")
	if err != nil {
		return sample{}, err
	}
	s := sample{
		target:  requestsIn(text, "provider_kyma_target_requests_total"),
		control: requestsIn(text, "provider_kyma_control_plane_requests_total"),
	}
	s.cpu, err = cpuSeconds(p.process.PID())
	return s, err
}

// requestsIn the text format of Prometheus, by the label verb.
func requestsIn(text, metric string) requests {
	out := requests{}
	for line := range strings.Lines(text) {
		labels, ok := strings.CutPrefix(line, metric+"{")
		if !ok {
			continue
		}
		_, verb, _ := strings.Cut(labels, `verb="`)
		verb, _, _ = strings.Cut(verb, `"`)
		n, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), 64)
		if err == nil {
			out[verb] += n
		}
	}
	return out
}

// minus what was before.
func (r requests) minus(before requests) requests {
	out := requests{}
	for verb, n := range r {
		if n > before[verb] {
			out[verb] = n - before[verb]
		}
	}
	return out
}

// sum of all verbs but some.
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

// writes are requests that change something.
func (r requests) writes() float64 {
	return r.sum(http.MethodGet, http.MethodHead, "WATCH")
}

// cpuSeconds that a process has used, in user and system mode.
func cpuSeconds(pid int) (float64, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, errors.Wrap(err, "cannot read the CPU time of the provider")
	}
	// The second field is the name in brackets, which may hold anything.
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

// peakMiB is the most memory that a process had resident at any time.
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

// freeAddress on which nobody listened a moment ago.
func freeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", errors.Wrap(err, "cannot find a free port")
	}
	return l.Addr().String(), errors.Wrap(l.Close(), "cannot free a port")
}
