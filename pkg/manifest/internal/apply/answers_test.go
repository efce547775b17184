// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

// Callers that ask the same question at the same time share the answer; callers that ask other questions do not wait for them.
func TestAnswersConcurrently(t *testing.T) {
	var c answers[string]
	var asked atomic.Int32
	other := make(chan struct{})
	ask := func(question string) func() (string, error) {
		return func() (string, error) {
			asked.Add(1)
			if question == "b" {
				close(other)
				return question, nil
			}
			<-other
			return question, nil
		}
	}
	var wg sync.WaitGroup
	for _, question := range []string{"a", "a", "a", "b"} {
		wg.Go(func() {
			if got, err := c.of(question, ask(question)); err != nil || got != question {
				t.Errorf("of(%s): %s, %v", question, got, err)
			}
		})
	}
	wg.Wait()
	if asked.Load() != 2 {
		t.Errorf("two questions are asked %d times", asked.Load())
	}
}

// The owners of two ApplySets are queried at the same time.
func TestOwnersConcurrently(t *testing.T) {
	s := newSite(t)
	w := s.writer()
	both := sync.WaitGroup{}
	both.Add(2)
	met := make(chan struct{})
	go func() { both.Wait(); close(met) }()
	s.c.Meet = func(line string) error {
		both.Done()
		select {
		case <-met:
		case <-time.After(time.Minute):
			t.Errorf("%s waits for another one", line)
		}
		return nil
	}
	var wg sync.WaitGroup
	for _, id := range []string{"applyset-a", "applyset-b"} {
		wg.Go(func() { w.Permissions.OwnerOf(t.Context(), id) })
	}
	wg.Wait()
}

// TestAnswersPanic checks that if answering a question panics, all callers that ask it get an error.
func TestAnswersPanic(t *testing.T) {
	var c answers[string]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got, err := c.of("a", func() (string, error) { panic("a bad answer") }); !panics.Is(err) || got != "" {
				t.Errorf("of(a): want the error of a panic, got %q, %v", got, err)
			}
		})
	}
	wg.Wait()
}
