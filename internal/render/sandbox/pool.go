// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/internal/render/sandbox/confine"
)

// Defaults of a Pool.
const (
	DefaultProcesses = 4
	DefaultWait      = 10 * time.Second
)

// Options are the options of a Pool.
type Options struct {
	Limits Limits // limits of each rendering

	Processes int           // concurrent renderings, of which a single tenant can use at most half; default 4
	Spares    int           // child processes that are kept ready; default 0
	Wait      time.Duration // maximum time to wait for other renderings to finish; default 10 s

	Observe func(took time.Duration) // called at the end of each rendering; default none

	Executable string // binary of the children, which calls Serve; default this one
}

// A Pool renders in child processes. It is safe for concurrent use.
type Pool struct {
	options Options
	results *results

	mu      sync.Mutex
	closed  bool
	spares  []*process
	pending int            // spares that are being started
	running map[string]int // renderings by tenant
	total   int            // all renderings
	freed   chan struct{}  // closed when one ends
}

// NewPool returns a Pool, and starts its spare children. Call Close when you no longer need it.
func NewPool(o Options) (*Pool, error) {
	o.Limits = o.Limits.withDefaults()
	if o.Processes <= 0 {
		o.Processes = DefaultProcesses
	}
	o.Wait = or(o.Wait, DefaultWait)
	if o.Observe == nil {
		o.Observe = func(time.Duration) {}
	}
	if o.Executable == "" {
		path, err := executable()
		if err != nil {
			return nil, errors.Wrap(err, "cannot find the binary of this process")
		}
		o.Executable = path
	}
	p := &Pool{options: o, results: newResults(), running: map[string]int{}, freed: make(chan struct{})}
	p.refill()
	return p, nil
}

// envExecutable is the environment variable with the binary of the children of a program that has the race detector. A child renders on
// its own, and tests are the only such programs, so they can save most of the CPU time of rendering. Other programs ignore it.
const envExecutable = "RENDER_EXECUTABLE"

// executable returns a path of the running binary. On Linux, the path stays valid if the binary is replaced.
func executable() (string, error) {
	if path := os.Getenv(envExecutable); confine.Race && path != "" {
		return path, nil
	}
	const self = "/proc/self/exe"
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(self); err == nil {
			return self, nil
		}
	}
	return os.Executable()
}

// Close ends the spare children. Renderings that are already running complete as usual, and new renderings fail.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	spares := p.spares
	p.spares = nil
	p.mu.Unlock()
	for _, s := range spares {
		s.end()
	}
}

// Check starts a child and returns how it is confined on this machine. It returns an error if no child can be started.
func (p *Pool) Check() (confine.State, error) {
	c, err := p.take()
	if err != nil {
		return confine.State{}, err
	}
	defer p.refill()
	defer c.end()
	return c.ready, nil
}

// take returns a child that is ready: a spare child, or a new one. It does not start another spare child, because this would
// slow down the rendering.
func (p *Pool) take() (*process, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errors.New("rendering was stopped because the provider is shutting down")
	}
	for len(p.spares) > 0 {
		s := p.spares[0]
		p.spares = p.spares[1:]
		select {
		case <-s.ended:
			s.end()
		default:
			p.mu.Unlock()
			return s, nil
		}
	}
	p.mu.Unlock()
	return startReady(p.options)
}

func startReady(o Options) (*process, error) {
	c, err := start(o.Executable, o.Limits)
	if err != nil {
		return nil, err
	}
	if err := c.awaitReady(); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

// refill starts missing spare children, without waiting for them.
func (p *Pool) refill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && len(p.spares)+p.pending < p.options.Spares {
		p.pending++
		go p.spare()
	}
}

func (p *Pool) spare() {
	c, err := panics.Value("cannot read the first message of the rendering process", func() (*process, error) { return startReady(p.options) })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending--
	switch {
	case err != nil: // The next rendering tries again, and reports the error.
	case p.closed:
		go c.end()
	default:
		p.spares = append(p.spares, c)
	}
}

// share returns how many renderings a tenant can run concurrently.
func (p *Pool) share(tenant string) int {
	if tenant == "" {
		return p.options.Processes
	}
	return max(p.options.Processes/2, 1)
}

// acquire waits until a rendering can begin. It returns a function to call at the end of the rendering.
func (p *Pool) acquire(ctx context.Context, subject, tenant string) (func(), error) {
	wait := time.NewTimer(p.options.Wait)
	defer wait.Stop()
	for {
		freed, ok := p.tryAcquire(tenant)
		if ok {
			return func() { p.release(tenant) }, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, stopped(ctx, subject, "")
		case <-wait.C:
			return nil, &Error{Reason: ReasonBusy, Subject: subject, Detail: "not rendered yet: waiting for other charts to be rendered"}
		}
	}
}

// tryAcquire reports whether a rendering can begin. If not, the channel is closed when another rendering has ended.
func (p *Pool) tryAcquire(tenant string) (<-chan struct{}, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total >= p.options.Processes || p.running[tenant] >= p.share(tenant) {
		return p.freed, false
	}
	p.total++
	p.running[tenant]++
	return nil, true
}

func (p *Pool) release(tenant string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total--
	if p.running[tenant]--; p.running[tenant] == 0 {
		delete(p.running, tenant)
	}
	close(p.freed)
	p.freed = make(chan struct{})
}
