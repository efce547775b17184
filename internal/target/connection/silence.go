// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"sync"
	"time"
)

const (
	// freshTime is how long after it has sent something a server is expected to respond.
	freshTime = 2 * time.Second
	// patience is how long a caller waits for a server that has been quiet. A shorter time would hold back callers when the provider itself is
	// short of CPU time, and they would use even more of it.
	patience = time.Second
	// trustTime is how long a server is not tested again after callers were held back, so that those of a slow server are not held back each
	// time that they try again.
	trustTime = 30 * time.Second
)

// A silence holds back the callers of a connection whose server has been quiet and does not respond to a ping. Otherwise, each of them would
// wait for a whole request when a server has disappeared without closing the connection.
type silence struct {
	// heard is that of transport.Transport.
	heard func(within time.Duration) <-chan struct{}
	// resumed is called when callers that were held back should try again. It must not block.
	resumed func()

	mu sync.Mutex
	// waiting is true while a goroutine waits for the server, and held is true if callers were held back since it began. mu protects them and the
	// field below.
	waiting, held bool
	// trusted is the time until which the server is not tested.
	trusted time.Time
}

// holds reports whether a caller must not use the connection yet. It blocks for the time of patience, unless the server is known to be silent.
func (s *silence) holds() bool {
	known, trusted := s.state()
	if trusted {
		return false
	}
	heard := s.heard(freshTime)
	if heard == nil {
		return false
	}
	if !known {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-heard:
			return false
		case <-timer.C:
		}
	}
	s.hold(heard)
	return true
}

// state returns whether the server is known to be silent, and whether it is not tested.
func (s *silence) state() (known, trusted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting, time.Now().Before(s.trusted)
}

// hold calls resumed when the channel is closed, or when decided is called.
func (s *silence) hold(heard <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
	if s.waiting {
		return
	}
	s.waiting = true
	go func() {
		<-heard
		s.mu.Lock()
		s.waiting, s.trusted = false, time.Now().Add(trustTime)
		s.mu.Unlock()
		s.decided()
	}()
}

// decided ends the wait of the callers that were held back.
func (s *silence) decided() {
	s.mu.Lock()
	held := s.held
	s.held = false
	s.mu.Unlock()
	if held {
		s.resumed()
	}
}
