// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"sync"
	"time"
)

// settleTime is how long after the last use of a quiet connection its watches are closed, so that all of its users use the same ones. It is
// shorter if connections are parked earlier.
const settleTime = time.Minute

// parking closes the watches of a connection that has been quiet for some time. Without requests, the transport closes the network
// connection soon after. The next use lists the kinds again.
type parking struct {
	// after is how long the connection must be quiet. If it is 0, nothing is closed.
	after time.Duration
	// park closes the watches, or returns false if it is not the time. changed is called when the connection is parked or used again.
	park    func() bool
	changed func()

	mu sync.Mutex
	// used is the last use of the connection, and active the last one that is a reason to keep its watches.
	used, active time.Time
	parked       bool
	stopped      bool
	timer        *time.Timer
}

func newParking(after time.Duration, park func() bool, changed func()) *parking {
	return &parking{after: after, park: park, changed: changed, active: time.Now()}
}

// use must be called before each use of the connection. It reports whether the connection was parked.
func (p *parking) use() (wasParked bool) {
	if p.after == 0 {
		return false
	}
	p.mu.Lock()
	p.used = time.Now()
	if p.timer == nil && !p.stopped {
		p.timer = time.AfterFunc(p.wait(), p.check)
	}
	wasParked, p.parked = p.parked, false
	p.mu.Unlock()
	if wasParked {
		p.changed()
	}
	return wasParked
}

// keep must be called when something has changed, or is about to change.
func (p *parking) keep() {
	if p.after == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active = time.Now()
}

// isParked reports whether the watches are closed.
func (p *parking) isParked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parked
}

func (p *parking) settle() time.Duration { return min(settleTime, p.after) }

// wait returns the time until the connection can be parked. The caller holds mu.
func (p *parking) wait() time.Duration {
	return max(time.Until(p.active.Add(p.after)), time.Until(p.used.Add(p.settle())))
}

// check parks the connection if it is quiet, or waits.
func (p *parking) check() {
	if p.tryPark() {
		p.changed()
	}
}

func (p *parking) tryPark() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return false
	}
	wait := p.wait()
	if wait <= 0 {
		if p.park() {
			p.parked, p.timer = true, nil
			return true
		}
		wait = p.settle()
	}
	p.timer.Reset(wait)
	return false
}

// stop ends the parking.
func (p *parking) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
