// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// patience is the time that an incomplete response has, while others wait for its memory.
const patience = 2 * time.Second

// raw is the memory of incomplete responses. The oldest one always gets the memory that it needs, which is at most the maximum: the
// others leave that much. Therefore, no two of them wait for each other, and only a server that sends slowly holds memory that others
// wait for.
type raw struct {
	size, most int64
	patience   time.Duration
	busy       error // of a response that must end because others wait

	mu   sync.Mutex
	left int64
	// reading contains the *part of each incomplete response that has memory or waits for it, the oldest one first.
	reading *list.List
	// changed is closed when a response that waits may get memory.
	changed chan struct{}
}

func newRaw(size, most int64, patience time.Duration, busy error) *raw {
	return &raw{size: size, most: most, patience: patience, busy: busy, left: size, reading: list.New(), changed: make(chan struct{})}
}

// A part is the memory of one response.
type part struct {
	raw      *raw
	bytes    int64
	at       *list.Element // nil if it is not in the list
	since    time.Time
	waiting  bool
	evicted  bool
	complete bool
	abort    context.CancelFunc
}

// begin returns the memory of a new response, which is none. Abort is called if it must end.
func (r *raw) begin(abort context.CancelFunc) *part { return &part{raw: r, abort: abort} }

// take adds bytes to the memory of a response. It waits until there are enough.
func (p *part) take(ctx context.Context, n int64) error {
	var late *time.Timer
	for {
		changed, err := p.try(n)
		if err != nil || changed == nil {
			return err
		}
		if late == nil {
			late = time.NewTimer(p.raw.patience)
			defer late.Stop()
		}
		select {
		case <-changed:
		case <-late.C:
			p.raw.evictSlow(p, n)
			late.Reset(p.raw.patience)
		case <-ctx.Done():
			return p.reason(context.Cause(ctx))
		}
	}
}

// try adds bytes to the memory, or returns a channel that is closed when it may have them.
func (p *part) try(n int64) (changed <-chan struct{}, err error) {
	r := p.raw
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.evicted {
		return nil, r.busy
	}
	if p.at == nil && !p.complete {
		p.at, p.since = r.reading.PushBack(p), time.Now()
	}
	waited := p.waiting
	switch p.waiting = r.lacks(p, n); {
	case p.waiting && p.complete:
		return nil, r.busy // Nothing is left for it, and its memory cannot be taken from it.
	case p.waiting:
		return r.changed, nil
	}
	if waited {
		p.since = time.Now() // Only the time in which its server sends counts.
	}
	r.left -= n
	p.bytes += n
	return nil, nil //nolint:nilnil // There is nothing to wait for, as documented.
}

// lacks reports whether there is too little memory for more bytes of a response. The caller holds the lock.
func (r *raw) lacks(p *part, n int64) bool {
	keep := int64(0)
	if e := r.reading.Front(); e != nil && e != p.at {
		keep = r.most - r.partOf(e).bytes
	}
	return r.left-n < keep
}

// evictSlow takes the memory of the oldest response if it waits for its server and its time has expired, unless there is enough for more
// bytes of another response that has waited.
func (r *raw) evictSlow(other *part, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.reading.Front()
	if e == nil || !r.lacks(other, n) {
		return
	}
	if p := r.partOf(e); !p.waiting && time.Since(p.since) >= r.patience {
		p.evicted = true
		r.remove(p)
		p.abort()
	}
}

// give returns some of the memory of a response.
func (p *part) give(n int64) {
	r := p.raw
	r.mu.Lock()
	defer r.mu.Unlock()
	if !p.evicted {
		r.left += n
		p.bytes -= n
		r.wake()
	}
}

// fits reports whether the memory of a response may become larger by a number of bytes.
func (p *part) fits(n int64) bool {
	p.raw.mu.Lock()
	defer p.raw.mu.Unlock()
	return n <= p.raw.most-p.bytes
}

// finish marks the response as complete: it can no longer be evicted, and it fails instead of waiting if it needs more memory.
func (p *part) finish() error {
	p.raw.mu.Lock()
	defer p.raw.mu.Unlock()
	if p.evicted {
		return p.raw.busy
	}
	p.complete = true
	p.raw.unlist(p)
	return nil
}

// end returns the memory of a response.
func (p *part) end() {
	p.raw.mu.Lock()
	defer p.raw.mu.Unlock()
	p.raw.remove(p)
}

// reason returns another error if an error is the consequence of an eviction.
func (p *part) reason(err error) error {
	p.raw.mu.Lock()
	defer p.raw.mu.Unlock()
	if p.evicted {
		return p.raw.busy
	}
	return err
}

// remove returns the memory of a response. The caller holds the lock.
func (r *raw) remove(p *part) {
	r.left += p.bytes
	p.bytes = 0
	r.unlist(p)
}

// unlist removes a response from the list, and lets the others try again. The caller holds the lock.
func (r *raw) unlist(p *part) {
	if p.at != nil {
		r.reading.Remove(p.at)
		p.at = nil
	}
	r.wake()
}

// wake lets those that wait try again. The caller holds the lock.
func (r *raw) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *raw) partOf(e *list.Element) *part {
	return e.Value.(*part) //nolint:forcetypeassert // The list has only parts.
}
