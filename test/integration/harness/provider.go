// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/cluster/tools"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane"
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// Termination is the time limit for a graceful termination of the provider.
const Termination = 20 * time.Second

// A Provider runs the provider as a process that can be stopped and started again. Its log and cache are kept.
type Provider struct {
	// Kubeconfig is the path of the kubeconfig of the control plane.
	Kubeconfig string
	// Binary has the race detector. Renderer, which renders, is the provider as it is shipped.
	Binary, Renderer, dir string
	// Args are appended to the flags that are always set, and Env to the environment.
	Args, Env []string
	// Metrics and health are addresses, host:port, which change with each start.
	Metrics, health string
	Process         *process.Process
}

// build builds a command of this repository into a directory, with the race detector if there is a C compiler, which Go needs
// for it.
func build(ctx context.Context, dir, command string) error {
	root, err := tools.Root()
	if err != nil {
		return err
	}
	// The Makefile turns cgo off for everything else.
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CGO_ENABLED=") })
	args := []string{"build", "-trimpath", "-tags", tools.Tags, "-gcflags", tools.CompilerFlags, "-ldflags=-w", "-o", filepath.Join(dir, command)}
	asked := exec.CommandContext(ctx, "go", "env", "CGO_ENABLED")
	asked.Env = env
	out, err := asked.Output()
	if err != nil {
		return errors.Wrap(err, "cannot ask go for CGO_ENABLED")
	}
	if strings.TrimSpace(string(out)) == "1" {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/"+command)...)
	cmd.Dir, cmd.Env = root, slices.Concat(env, tools.CollectLess())
	out, err = cmd.CombinedOutput()
	return errors.Wrapf(err, "cannot build %s: %s", command, out)
}

// Rendering returns the environment variable that makes a provider with the race detector render with Renderer, which takes a fraction of
// the CPU time (see package internal/render/sandbox).
func (p *Provider) Rendering() string { return "RENDER_EXECUTABLE=" + p.Renderer }

// Start starts the provider, and returns once it is ready.
func (p *Provider) Start(ctx context.Context) error {
	var err error
	if p.Metrics, err = FreeAddress(ctx); err != nil {
		return err
	}
	if p.health, err = FreeAddress(ctx); err != nil {
		return err
	}
	p.Process, err = process.Start(p.dir, "provider", p.Binary,
		slices.Concat([]string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "KUBECONFIG=" + p.Kubeconfig, p.Rendering(),
		}, p.Env),
		slices.Concat([]string{
			"--metrics-bind-address=" + p.Metrics, "--health-probe-bind-addr=" + p.health,
			"--cache-dir=" + filepath.Join(p.dir, "cache"), "--debug",
			// Specs kill the provider, and would have to wait until the lease of the killed process expires.
			"--no-leader-election",
		}, controlplane.LocalFlags(), p.Args)...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for {
		_, err := process.Get(ctx, http.DefaultClient, "http://"+p.health+"/readyz")
		if err == nil {
			// The metrics server starts independently, and specs read the metrics immediately.
			_, err = process.Get(ctx, http.DefaultClient, "http://"+p.Metrics+"/metrics")
		}
		if err == nil {
			return nil
		}
		select {
		case <-p.Process.Done():
			return p.Process.Err()
		case <-ctx.Done():
			return errors.Wrapf(err, "the provider is not ready in time; its log ends with:\n%s", p.Process.Tail())
		case <-time.After(Interval):
		}
	}
}

// Terminate ends the provider as Kubernetes does: with SIGTERM, after which the process must end within Termination.
func (p *Provider) Terminate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Termination)
	defer cancel()
	return p.Process.Terminate(ctx)
}

// Kill kills the provider immediately.
func (p *Provider) Kill() { p.Process.Stop() }

// Log returns the log of all runs so far.
func (p *Provider) Log() string {
	if p.Process == nil {
		return ""
	}
	data, err := os.ReadFile(p.Process.LogFile())
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// logTail returns the last lines of the log.
func (p *Provider) logTail(lines int) string {
	all := strings.Split(strings.TrimSpace(p.Log()), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// FreeAddress returns an address on which no process listened a moment ago, and whose port no outgoing connection uses.
func FreeAddress(ctx context.Context) (string, error) {
	port, err := process.FreePort(ctx)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}
