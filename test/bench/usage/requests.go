// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
)

// These are verbs in Requests that are not HTTP methods: watches, and access reviews, which are POST requests that change nothing.
const (
	Watch  = "WATCH"
	Review = "REVIEW"
)

// Requests is the number of requests by verb: the HTTP method, Watch or Review.
type Requests map[string]float64

// Minus returns the difference from an earlier count.
func (r Requests) Minus(before Requests) Requests {
	out := Requests{}
	for verb, n := range r {
		if n > before[verb] {
			out[verb] = n - before[verb]
		}
	}
	return out
}

// Sum returns the total number of requests, without those of the given verbs.
func (r Requests) Sum(but ...string) float64 {
	total := 0.0
	for _, n := range r {
		total += n
	}
	for _, verb := range but {
		total -= r[verb]
	}
	return total
}

// Writes returns the number of requests that change objects.
func (r Requests) Writes() float64 { return r.Sum(http.MethodGet, http.MethodHead, Watch, Review) }

// Per returns the requests divided by n.
func (r Requests) Per(n int) Requests {
	out := Requests{}
	for verb, total := range r {
		out[verb] = Per(total, n)
	}
	return out
}

// String returns the numbers sorted by verb, or "none".
func (r Requests) String() string {
	if len(r) == 0 {
		return "none"
	}
	var parts []string
	for _, verb := range slices.Sorted(maps.Keys(r)) {
		parts = append(parts, fmt.Sprintf("%s %.2f", verb, r[verb]))
	}
	return strings.Join(parts, ", ")
}

// equal reports whether both have the same numbers, except those of watches, which end and begin at any time.
func (r Requests) equal(o Requests) bool {
	return maps.Equal(r.but(Watch), o.but(Watch))
}

func (r Requests) but(verb string) Requests {
	out := maps.Clone(r)
	delete(out, verb)
	return out
}

// Per returns total/n, rounded to four decimals.
func Per(total float64, n int) float64 { return math.Round(total/float64(n)*1e4) / 1e4 }
