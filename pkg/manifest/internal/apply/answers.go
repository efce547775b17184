// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/crossplane-contrib/provider-kyma/internal/panics"
)

// answers caches the answers to questions of one kind during one call. Callers that ask the same question at the same time share
// the answer, and callers that ask different questions do not wait for each other.
type answers[T any] struct {
	mu     sync.Mutex
	by     map[string]T
	asking singleflight.Group
}

// of returns the answer to a question, which it gets from ask unless the answer is cached. Errors are not cached.
func (a *answers[T]) of(question string, ask func() (T, error)) (T, error) {
	got, err, _ := a.asking.Do(question, func() (any, error) {
		a.mu.Lock()
		known, ok := a.by[question]
		a.mu.Unlock()
		if ok {
			return known, nil
		}
		answer, err := panics.Value(question, ask)
		if err != nil {
			return answer, err
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.by == nil {
			a.by = map[string]T{}
		}
		a.by[question] = answer
		return answer, nil
	})
	return got.(T), err //nolint:forcetypeassert // The function returns nothing else.
}
