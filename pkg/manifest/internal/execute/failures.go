// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/plan"
)

// A failure is an error of a part, or of work that does not belong to a part.
type failure struct {
	title string
	err   error
}

// mostFailures is the maximum number of failures that one message lists.
const mostFailures = 3

// join combines failures into one error, sorted by their titles. It returns nil if there are none.
func join(all []failure) error {
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b failure) int { return strings.Compare(a.title, b.title) })
	return &failedError{all: all}
}

// A failedError contains all failures of a run.
type failedError struct{ all []failure }

// Error lists the first failures in one line.
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

// Unwrap returns all failures, for errors.Is and errors.As.
func (e *failedError) Unwrap() []error {
	out := make([]error, 0, len(e.all))
	for _, f := range e.all {
		out = append(out, f.err)
	}
	return out
}
