// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// Slots are taken and released through the lines of connections. They are safe for concurrent use. Nil Slots have no limit.
type Slots struct {
	mu   sync.Mutex
	free int
	// ready contains the lines that get the next slots.
	ready order
	// turns is the number of turns that lines had or wait for, and given is the number of slots that were taken.
	turns, given uint64
}

// share is how many slots are taken for each one that the line gets that waits longest, whatever its priority is.
const share = 8

// New returns a number of slots.
func New(n int) *Slots { return &Slots{free: n} }

// Free returns the number of slots that are not taken.
func (s *Slots) Free() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free
}

// A Line contains the calls of one connection that wait for slots. It has the lowest priority at first. A nil Line has no limit.
type Line struct {
	slots *Slots
	// most is the maximum number of slots of the line, and used is how many it has.
	most, used int
	priority   int
	waiting    []chan struct{}
	// turn orders lines with the same priority. index is the position in the order of lines, or -1 if the line is not in it.
	turn  uint64
	index int
}

// NewLine returns a line that uses at most a number of slots, so that one connection cannot use all of them.
func (s *Slots) NewLine(most int) *Line {
	if s == nil {
		return nil
	}
	return &Line{slots: s, most: most, priority: math.MinInt, index: -1}
}

// SetPriority sets the priority of the line. A higher one comes first. While calls wait, the priority can only become higher.
func (l *Line) SetPriority(priority int) {
	if l == nil {
		return
	}
	l.slots.mu.Lock()
	defer l.slots.mu.Unlock()
	if len(l.waiting) > 0 && priority < l.priority {
		return
	}
	l.priority = priority
	if l.index >= 0 {
		heap.Fix(&l.slots.ready, l.index)
	}
}

// Take waits for a slot, and returns a function that releases it. A slot that is not released after a time is released then, so that a
// cluster that hangs hardly delays others. Take returns false if the context ends first.
func (l *Line) Take(ctx context.Context, most time.Duration) (release func(), ok bool) {
	if l == nil {
		return func() {}, true
	}
	taken := l.wait()
	select {
	case <-taken:
	case <-ctx.Done():
		if l.leave(taken) {
			return nil, false
		}
	}
	free := sync.OnceFunc(l.release)
	late := time.AfterFunc(most, free)
	return func() {
		late.Stop()
		free()
	}, true
}

// wait adds a call. The channel is closed when it has a slot.
func (l *Line) wait() chan struct{} {
	l.slots.mu.Lock()
	defer l.slots.mu.Unlock()
	taken := make(chan struct{})
	l.waiting = append(l.waiting, taken)
	l.slots.enter(l)
	l.slots.give()
	return taken
}

// leave removes a call that waits. It returns false if the call has a slot.
func (l *Line) leave(taken chan struct{}) bool {
	l.slots.mu.Lock()
	defer l.slots.mu.Unlock()
	i := slices.Index(l.waiting, taken)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	if len(l.waiting) == 0 && l.index >= 0 {
		heap.Remove(&l.slots.ready, l.index)
	}
	return true
}

func (l *Line) release() {
	l.slots.mu.Lock()
	defer l.slots.mu.Unlock()
	l.used--
	l.slots.free++
	l.slots.enter(l)
	l.slots.give()
}

// enter adds a line to the order, after those with the same priority, unless it is there already or cannot get a slot. The caller holds mu.
func (s *Slots) enter(l *Line) {
	if l.index >= 0 || len(l.waiting) == 0 || l.used >= l.most {
		return
	}
	s.turns++
	l.turn = s.turns
	heap.Push(&s.ready, l)
}

// give gives the free slots to the first lines. The caller holds mu.
func (s *Slots) give() {
	for s.free > 0 && len(s.ready) > 0 {
		l := s.next()
		heap.Remove(&s.ready, l.index)
		taken := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.used++
		s.free--
		close(taken)
		s.enter(l)
	}
}

// next returns the line that gets the next slot. The caller holds mu.
func (s *Slots) next() *Line {
	if s.given++; s.given%share != 0 {
		return s.ready[0]
	}
	return slices.MinFunc(s.ready, func(a, b *Line) int { return cmp.Compare(a.turn, b.turn) })
}

// order implements heap.Interface.
type order []*Line

// Len returns the number of lines.
func (o *order) Len() int { return len(*o) }

// Less reports whether a line comes before another.
func (o *order) Less(i, j int) bool {
	a, b := (*o)[i], (*o)[j]
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.turn < b.turn
}

// Swap swaps two lines.
func (o *order) Swap(i, j int) {
	(*o)[i], (*o)[j] = (*o)[j], (*o)[i]
	(*o)[i].index, (*o)[j].index = i, j
}

// Push adds a *Line at the end.
func (o *order) Push(x any) {
	if l, ok := x.(*Line); ok {
		l.index = len(*o)
		*o = append(*o, l)
	}
}

// Pop removes the last *Line.
func (o *order) Pop() any {
	last := len(*o) - 1
	l := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	l.index = -1
	return l
}
