// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

// A failure of a part, or of what belongs to no part.
type failure struct {
	title string
	err   error
}

// mostFailures is how many failures are told of at once.
const mostFailures = 3

// join returns failures as one error, sorted by their titles; nil for none.
func join(all []failure) error {
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b failure) int { return strings.Compare(a.title, b.title) })
	return &failedError{all: all}
}

// A failedError is what failed in a run, in one line.
type failedError struct{ all []failure }

// Error tells of the first failures.
func (e *failedError) Error() string {
	lines := make([]string, 0, mostFailures+1)
	for _, f := range e.all {
		if len(lines) == mostFailures {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, f.title+": "+plan.Why(f.err))
	}
	return strings.Join(lines, "; ")
}

// Unwrap returns all failures, so that callers find of which kinds they are.
func (e *failedError) Unwrap() []error {
	out := make([]error, 0, len(e.all))
	for _, f := range e.all {
		out = append(out, f.err)
	}
	return out
}
