// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const text = `# HELP requests_total Requests.
requests_total{code="200",verb="GET"} 3
requests_total{code="404",verb="GET"} 1
requests_total{code="200",verb="WATCH"} 2e+01
requests_total_other{verb="GET"} 100
goroutines 25
wait_bucket{name="a",le="1"} 4
wait_bucket{name="b",le="1"} 4
wait_bucket{name="a",le="2"} 8
wait_bucket{name="b",le="2"} 8
wait_bucket{name="a",le="+Inf"} 8
wait_bucket{name="b",le="+Inf"} 9
`

func TestCounts(t *testing.T) {
	m := Metrics(text)
	if diff := cmp.Diff(map[string]float64{"GET": 4, "WATCH": 20}, m.Counts("requests_total", "verb")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]float64{"GET 200": 3, "GET 404": 1, "WATCH 200": 20}, m.Counts("requests_total", "verb", "code")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if got := m.Sum("goroutines"); got != 25 {
		t.Errorf("Sum of a gauge: %v", got)
	}
	if got := m.Sum("requests_total"); got != 24 {
		t.Errorf("Sum of a counter: %v", got)
	}
	if diff := cmp.Diff(Histogram{1: 8, 2: 16, math.Inf(1): 17}, m.Histogram("wait")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	each := map[string]Histogram{"a": {1: 4, 2: 8, math.Inf(1): 8}, "b": {1: 4, 2: 8, math.Inf(1): 9}}
	if diff := cmp.Diff(each, m.Histograms("wait", "name")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if got := m.Histogram("none"); len(got) != 0 {
		t.Errorf("Histogram of a metric that does not exist: %v", got)
	}
}

func TestQuantile(t *testing.T) {
	h := Histogram{1: 8, 2: 16, math.Inf(1): 16}
	cases := map[string]struct {
		reason string
		h      Histogram
		q      float64
		want   float64
	}{
		"Empty":    {reason: "Without observations, there is no quantile.", h: Histogram{math.Inf(1): 0}, q: 0.5, want: 0},
		"Negative": {reason: "If observations are missing, there is no quantile.", h: Histogram{1: 0, math.Inf(1): -1}, q: 0.5, want: 0},
		"Bound":    {reason: "Half of the observations are at most 1.", h: h, q: 0.5, want: 1},
		"First":    {reason: "The first bucket begins at 0.", h: h, q: 0.25, want: 0.5},
		"Within":   {reason: "Values are spread evenly in a bucket.", h: h, q: 0.75, want: 1.5},
		"Infinite": {reason: "A value above all bounds is at least the last one.", h: Histogram{1: 1, math.Inf(1): 10}, q: 0.99, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.h.Quantile(tc.q); got != tc.want {
				t.Errorf("%s\nwant %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

func TestPercentile(t *testing.T) {
	d := []time.Duration{4, 1, 3, 2}
	cases := map[string]struct {
		reason string
		d      []time.Duration
		p      float64
		want   time.Duration
	}{
		"None":   {reason: "Without durations, there is no percentile.", p: 50, want: 0},
		"Median": {reason: "It is the nearest rank, not a mean.", d: d, p: 50, want: 2},
		"High":   {reason: "With few durations, a high percentile is the maximum.", d: d, p: 99, want: 4},
		"Lowest": {reason: "The rank is at least 1.", d: d, p: 0, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Percentile(tc.d, tc.p); got != tc.want {
				t.Errorf("%s\nwant %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	before, after := Requests{"GET": 1, "PATCH": 2}, Requests{"GET": 5, "PATCH": 4, Watch: 3, Review: 2, "HEAD": 0}
	got := after.Minus(before)
	if diff := cmp.Diff(Requests{"GET": 4, "PATCH": 2, Watch: 3, Review: 2}, got); diff != "" {
		t.Errorf("Minus: -want, +got:\n%s", diff)
	}
	if got.Sum() != 11 || got.Sum(Watch) != 8 || got.Writes() != 2 {
		t.Errorf("Sum, without watches, and Writes: %v, %v, %v", got.Sum(), got.Sum(Watch), got.Writes())
	}
	if !got.equal(Requests{"GET": 4, "PATCH": 2, Watch: 7, Review: 2}) || got.equal(Requests{"GET": 4}) {
		t.Error("only watches may differ between equal requests")
	}
}
