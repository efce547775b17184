// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
	"github.com/crossplane-contrib/provider-kyma/internal/target/transport"
)

const (
	// probeTime is the timeout of a probe.
	probeTime = 8 * time.Second
	// firstProbe and lastProbe are the minimum and the maximum pause between two probes.
	firstProbe = time.Second
	lastProbe  = 5 * time.Minute
	// steady is how long a server must stay Connected before the pauses start from the minimum again.
	steady = 2 * time.Minute
	// hurried is the minimum pause for callers who need the server.
	hurried = 10 * time.Second
)

// A monitor probes a server while it is not Connected, and after a failure that the server might have caused. It only runs a
// goroutine during that time, so a connected idle cluster costs nothing.
type monitor struct {
	// admit waits until a probe can be sent, and returns a function that must be called after it. It returns false if the context ends.
	admit func(ctx context.Context) (done func(), ok bool)
	// probe sends one request. state returns the state of the server, including the result of the probe.
	probe func(ctx context.Context)
	state func() transport.State

	// root is canceled by stop, which ends the goroutine.
	root    context.Context //nolint:containedctx // It is the lifetime of the connection.
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu sync.Mutex
	// active is true while the goroutine runs. mu protects it and all fields below.
	active bool
	closed bool
	// pause is the last pause. connected is the time at which the server was found to be Connected.
	pause     time.Duration
	connected time.Time
	// paused is the start of the current pause before a probe, or zero while there is none.
	paused time.Time
	// kick ends the current pause of the goroutine, or the next one.
	kick chan struct{}
}

func newMonitor(
	admit func(context.Context) (func(), bool), probe func(context.Context), state func() transport.State,
) *monitor {
	m := &monitor{admit: admit, probe: probe, state: state, kick: make(chan struct{}, 1)}
	m.root, m.cancel = context.WithCancel(context.Background())
	return m
}

// start starts probing, unless the goroutine is already running.
func (m *monitor) start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.active || m.closed {
		return
	}
	m.active = true
	wait := time.Duration(0)
	switch {
	case time.Since(m.connected) > steady:
		m.pause = 0
	case m.state() != transport.Connected:
		// The server was Connected only briefly. If a server only answers probes, it must not be used all the time.
		wait, m.paused = m.next(), time.Now()
	}
	m.running.Go(func() { m.run(wait) })
}

// probeNow probes at once, even if the server is Connected, and starts the pauses from the minimum again.
func (m *monitor) probeNow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pause = 0
	if m.active {
		m.kickLocked()
		return
	}
	if !m.closed {
		m.active = true
		m.running.Go(func() { m.run(0) })
	}
}

// hurry ends the current pause, unless it is short. The next pause is longer, as usual: callers who need the server often don't make it be probed
// more often than every ten seconds.
func (m *monitor) hurry() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.paused.IsZero() && time.Since(m.paused) >= hurried {
		m.kickLocked()
	}
}

// kickLocked ends the current pause, or the next one. The caller holds mu.
func (m *monitor) kickLocked() {
	select {
	case m.kick <- struct{}{}:
	default: // The goroutine has not received the last one yet.
	}
}

// run probes until the server is Connected.
func (m *monitor) run(wait time.Duration) {
	for {
		select {
		case <-time.After(wait):
		case <-m.kick:
		case <-m.root.Done():
			return
		}
		m.mu.Lock()
		m.paused = time.Time{}
		m.mu.Unlock()
		done, ok := m.admit(m.root)
		if !ok {
			return
		}
		ctx, cancel := context.WithTimeout(transport.Probe(m.root), probeTime)
		panics.Log("the response of a cluster to a probe", func() { m.probe(ctx) })
		cancel()
		done()
		m.mu.Lock()
		// The lock ensures that a failure after this point starts a new goroutine. A kick during the probe requires another one.
		if m.state() == transport.Connected && len(m.kick) == 0 {
			m.active, m.connected = false, time.Now()
			m.mu.Unlock()
			return
		}
		wait, m.paused = m.next(), time.Now()
		m.mu.Unlock()
	}
}

// next returns the next pause. The caller holds mu. Jitter spreads the probes of clusters that failed together.
func (m *monitor) next() time.Duration {
	m.pause = min(max(2*m.pause, firstProbe), lastProbe)
	return m.pause - rand.N(m.pause/4) //nolint:gosec // Jitter needs no secrecy.
}

// stop ends the goroutine, and waits for it.
func (m *monitor) stop() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	m.running.Wait()
}
