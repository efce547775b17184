// SPDX-License-Identifier: Apache-2.0

package report

import "fmt"

// A Budget is the limit of a figure. Figures are numbers, bytes and ratios, but no times, which depend on the machine.
type Budget struct {
	// Name is the key of the figure, or describes what is derived from several.
	Name string
	// Most is the limit.
	Most float64
	// Of returns the figure.
	Of func(r *Result) float64
}

// Budgets returns the limits of a run. A limit that the provider does not meet yet is the measured value plus a fifth, with a comment
// that states the aim.
func Budgets() []Budget {
	return []Budget{
		{"idle_requests", 0, func(r *Result) float64 { return r.IdleRequests }},
		{"idle_writes", 0, func(r *Result) float64 { return r.IdleWrites }},
		{"restart_writes", 0, func(r *Result) float64 { return r.RestartWrites }},
	}
}

// Exceeded returns a message for each budget that the result exceeds.
func (r *Result) Exceeded(budgets []Budget) []string {
	var out []string
	for _, b := range budgets {
		if got := b.Of(r); got > b.Most {
			out = append(out, fmt.Sprintf("%s is %.4g, and may be %.4g", b.Name, got, b.Most))
		}
	}
	return out
}
