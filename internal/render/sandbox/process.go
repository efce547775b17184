// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox/confine"
)

const (
	// pipeSize is the usual size of a pipe, in bytes.
	pipeSize = 64 << 10
	// maxReady limits the size of the first message of a child.
	maxReady = 4 << 10
	// maxCrash limits the stored output that a dying child writes to stderr.
	maxCrash = 4 << 10
)

// A process is a child process.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	pipe  io.Closer // closes out
	crash *head
	ready confine.State

	// ended is closed when the process has ended.
	ended chan struct{}

	mu     sync.Mutex
	killed Reason // reason for which the parent killed it, or ""
}

// start starts a child. Call awaitReady next.
func start(executable string, l Limits) (*process, error) {
	env, err := l.environment()
	if err != nil {
		return nil, err
	}
	// A spare outlives the rendering that starts it.
	cmd := exec.Command(executable, Command) //nolint:noctx // See above.
	p := &process{cmd: cmd, crash: &head{most: maxCrash}, ended: make(chan struct{})}
	// It inherits no environment variables of this process, because these can contain credentials.
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr, p.cmd.SysProcAttr = env, "/", p.crash, processAttributes()
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, errors.Wrap(err, "cannot create a pipe")
	}
	out, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Wrap(err, "cannot create a pipe")
	}
	// Wait would close a pipe that package exec created while it is being read.
	p.cmd.Stdout, p.pipe, p.out = w, out, bufio.NewReaderSize(out, pipeSize)
	err = p.cmd.Start()
	_ = w.Close()
	if err != nil {
		_, _ = out.Close(), p.in.Close()
		return nil, errors.Wrap(err, "cannot start a rendering process")
	}
	go func() {
		_ = p.cmd.Wait() // The state of the process contains more than the error.
		close(p.ended)
	}()
	return p, nil
}

// awaitReady waits until the child is confined and waits for a request.
func (p *process) awaitReady() error {
	k, content, err := readFrame(p.out, maxReady)
	if err == nil && k == kindReady {
		return errors.Wrap(json.Unmarshal(content, &p.ready), "cannot decode the first message of the rendering process")
	}
	p.kill("")
	<-p.ended
	return errors.Errorf("the rendering process ended before it was ready: %s", p.lastWords())
}

// kill kills the process if it is still running. Only the first reason is stored.
func (p *process) kill(r Reason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed == "" {
		p.killed = r
	}
	_ = p.cmd.Process.Kill() // It fails if the process has already ended.
}

func (p *process) killedFor() Reason {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// reason returns the reason why a process has ended without an answer.
func (p *process) reason(l Limits) Reason {
	state := p.cmd.ProcessState
	// A child that is too busy to end itself is killed. The kernel measures that time in another way than the time that it reports.
	almost := time.Duration(l.cpuSeconds()) * time.Second * 9 / 10 //nolint:gosec // It is small.
	switch used := state.UserTime() + state.SystemTime(); {
	case p.killedFor() != "":
		return p.killedFor()
	case state.ExitCode() == exitMemory, outOfMemory(p.crash.all()):
		return ReasonMemory
	case state.ExitCode() == exitCPU, state.ExitCode() < 0 && used >= almost:
		return ReasonCPU
	}
	return ReasonEnded
}

// lastWords returns the first line that the process wrote to stderr, or its state.
func (p *process) lastWords() string {
	if line := p.crash.line(); line != "" {
		return line
	}
	return p.cmd.ProcessState.String()
}

// end kills the process, waits until it has ended, and closes its pipes.
func (p *process) end() {
	p.kill("")
	_ = p.in.Close()
	<-p.ended
	_ = p.pipe.Close()
}

// A head is a writer that stores only the beginning of its input.
type head struct {
	most int

	mu   sync.Mutex
	text bytes.Buffer
}

// Write never fails.
func (h *head) Write(data []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(data[:min(len(data), h.most-h.text.Len())])
	return len(data), nil
}

func (h *head) line() string {
	first, _, _ := strings.Cut(strings.TrimSpace(h.all()), "\n")
	return first
}

// all returns the stored text.
func (h *head) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// outOfMemory reports whether the Go runtime of a child ended it for lack of memory. The text that it writes to stderr is the only
// sign of the reason. If the kernel refuses memory, the runtime usually reports that, but it can also use an address that it did not
// get. Go code outside of the runtime panics in that case.
func outOfMemory(crash string) bool {
	return strings.Contains(crash, "out of memory") || strings.Contains(crash, "cannot allocate memory") ||
		strings.Contains("\n"+crash, "\nSIGSEGV: ") || strings.Contains(crash, "fatal error: unexpected signal during runtime execution")
}
