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
	// pollInterval is the pause between two checks of a server that starts.
	pollInterval = 50 * time.Millisecond
	// tailBytes is how much of a log a crash report shows.
	tailBytes = 3000
)

// A Process is one child, in a process group of its own.
type Process struct {
	name string
	log  string
	cmd  *exec.Cmd
	// done is closed once the child is gone; err is set before.
	done chan struct{}
	err  error
	// stopping says that the end of the child was asked for.
	stopping atomic.Bool
}

// Start starts a program whose output is appended to dir/name.log. Its
// working directory is dir, and its environment is env and nothing else. It is
// gone when this process is: on Linux however that ends, elsewhere by Stop.
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
		// On Linux a child is told of the death of the thread that started it.
		// So the thread stays until the child is gone.
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

// PID returns the number of the process, which is also that of its group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// LogFile returns the path of the log.
func (p *Process) LogFile() string { return p.log }

// Done is closed once the process is gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err describes the end of a process that was not asked to end, with the last
// lines of its log. It is nil while the process runs, and after Stop or
// Terminate.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	if p.stopping.Load() {
		return nil
	}
	return errors.Errorf("%s ended unexpectedly: %v; its log (%s) ends with:\n%s", p.name, p.err, p.log, p.Tail())
}

// State returns what the system measured of a process that is gone, such as its
// CPU time, or nil while it runs.
func (p *Process) State() *os.ProcessState {
	select {
	case <-p.done:
		return p.cmd.ProcessState
	default:
		return nil
	}
}

// Stop ends the process and everything that it started at once, and waits for
// the end: it gets no time to tidy up. It may be called on nil, and again.
func (p *Process) Stop() {
	if p == nil {
		return
	}
	p.stopping.Store(true)
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// Terminate asks the process to end, and waits for the end until ctx is done.
// Then it is stopped, which is an error.
func (p *Process) Terminate(ctx context.Context) error {
	p.stopping.Store(true)
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		p.Stop()
		return errors.Errorf("%s did not end when it was asked to; its log (%s) ends with:\n%s", p.name, p.log, p.Tail())
	}
}

// Signal reaches the whole process group, unless the process is gone already:
// its number may then be another's.
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
