// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// pollInterval is the pause between two checks of a starting server.
	pollInterval = 50 * time.Millisecond
	// tailBytes is the maximum length of the log in an error, in bytes.
	tailBytes = 3000
)

// A Process is one child process in its own process group.
type Process struct {
	name string
	log  string
	cmd  *exec.Cmd
	// done is closed when the child has ended; err is set before.
	done chan struct{}
	err  error
	// stopping is true after Stop or Terminate.
	stopping atomic.Bool
}

// Start starts a program and appends its output to dir/name.log. Its working directory is dir, and its environment is
// only env. The program ends with this process: on Linux regardless of how this process ends, elsewhere only by Stop.
func Start(dir, name, path string, env []string, args ...string) (*Process, error) {
	p := &Process{name: name, log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot open the log of %s", name)
	}
	p.cmd = exec.Command(path, args...) //nolint:noctx // The child outlives the call; Stop ends it.
	p.cmd.Env = env
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = childAttributes()

	started := make(chan error, 1)
	go func() {
		// On Linux, the child is killed when the thread that started it ends. Keep this thread until the child has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = log.Close() }()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, errors.Wrapf(err, "cannot start %s", name)
	}
	return p, nil
}

// PID returns the ID of the process, which is also the ID of its process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// LogFile returns the path of the log.
func (p *Process) LogFile() string { return p.log }

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns an error if the process ended unexpectedly, with the last lines of its log. It is nil while the process
// runs, and after Stop or Terminate.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	if p.stopping.Load() {
		return nil
	}
	return errors.Errorf("%s exited unexpectedly: %v; last lines of its log (%s):\n%s", p.name, p.err, p.log, p.Tail())
}

// State returns the state of an ended process, including its CPU time, or nil while it runs.
func (p *Process) State() *os.ProcessState {
	select {
	case <-p.done:
		return p.cmd.ProcessState
	default:
		return nil
	}
}

// Stop kills the process and all processes that it started, without time to clean up, and waits until the process has
// ended. It can be called on nil, and more than once.
func (p *Process) Stop() {
	if p == nil {
		return
	}
	p.stopping.Store(true)
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// Terminate sends SIGTERM to the process, and waits until it has ended. When ctx ends first, it stops the process and
// returns an error.
func (p *Process) Terminate(ctx context.Context) error {
	p.stopping.Store(true)
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.Stop()
		return errors.Errorf("%s did not exit after SIGTERM; last lines of its log (%s):\n%s", p.name, p.log, p.Tail())
	}
}

// Signal sends a signal to the process group. It does nothing after the process has ended, because another process may
// have the same ID then.
func (p *Process) Signal(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.PID(), s)
	}
}

// Tail returns the last lines of the log.
func (p *Process) Tail() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Sprintf("(unreadable: %v)", err)
	}
	if len(data) > tailBytes {
		data = data[len(data)-tailBytes:]
	}
	return strings.TrimSpace(string(data))
}
