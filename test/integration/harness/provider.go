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
	"github.com/crossplane-contrib/provider-kyma/test/controlplane/process"
)

// Termination is how long the provider may take to end in good order.
const Termination = 20 * time.Second

// A Provider is the provider as a process of its own, which can be stopped and started. Its log and its cache stay.
type Provider struct {
	// Kubeconfig is the path of that of the control plane.
	Kubeconfig  string
	Binary, dir string
	// Args are added to the flags that it is always started with.
	Args []string
	// Metrics and health are addresses, host:port. They change with each start.
	Metrics, health string
	Process         *process.Process
}

// build a command of this repository into a directory, with the race detector where there is a C compiler, without which Go
// has none.
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
	cmd.Dir, cmd.Env = root, env
	out, err = cmd.CombinedOutput()
	return errors.Wrapf(err, "cannot build %s: %s", command, out)
}

// Start the provider, and return once it says that it is ready.
func (p *Provider) Start(ctx context.Context) error {
	var err error
	if p.Metrics, err = FreeAddress(ctx); err != nil {
		return err
	}
	if p.health, err = FreeAddress(ctx); err != nil {
		return err
	}
	p.Process, err = process.Start(p.dir, "provider", p.Binary,
		[]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "KUBECONFIG=" + p.Kubeconfig},
		append([]string{
			"--metrics-bind-address=" + p.Metrics, "--health-probe-bind-addr=" + p.health,
			"--cache-dir=" + filepath.Join(p.dir, "cache"), "--debug",
		}, p.Args...)...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for {
		_, err := fetch(ctx, "http://"+p.health+"/readyz")
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

// Terminate the provider as Kubernetes does: it is asked to end, and must do so soon.
func (p *Provider) Terminate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Termination)
	defer cancel()
	return p.Process.Terminate(ctx)
}

// Kill the provider at once.
func (p *Provider) Kill() { p.Process.Stop() }

// Log of all runs so far.
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

// logTail are the last lines of the log.
func (p *Provider) logTail(lines int) string {
	all := strings.Split(strings.TrimSpace(p.Log()), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// FreeAddress on which no process listened a moment ago, and that no outgoing connection gets.
func FreeAddress(ctx context.Context) (string, error) {
	port, err := process.FreePort(ctx)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}

func fetch(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", errors.Wrap(err, "cannot make a request")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body := &strings.Builder{}
	if err := res.Write(body); err != nil {
		return "", errors.Wrap(err, "cannot read the response")
	}
	if res.StatusCode != http.StatusOK {
		return "", errors.Errorf("GET %s: %s", url, res.Status)
	}
	return body.String(), nil
}
