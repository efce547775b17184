// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Metrics are metrics in the text format of Prometheus.
type Metrics string

// Counts returns the values of a metric by labels, whose values are separated by spaces. Values of series that differ in other labels
// are added.
func (m Metrics) Counts(metric string, labels ...string) map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(string(m)) {
		all, ok := strings.CutPrefix(line, metric+"{")
		if !ok {
			continue
		}
		values := make([]string, 0, len(labels))
		for _, l := range labels {
			values = append(values, labelOf(all, l))
		}
		if n, err := valueOf(line); err == nil {
			out[strings.Join(values, " ")] += n
		}
	}
	return out
}

// Sum returns the sum of all series of a metric.
func (m Metrics) Sum(metric string) float64 {
	total := 0.0
	for line := range strings.Lines(string(m)) {
		rest, ok := strings.CutPrefix(line, metric)
		if !ok || (rest[0] != ' ' && rest[0] != '{') {
			continue
		}
		if n, err := valueOf(line); err == nil {
			total += n
		}
	}
	return total
}

// Histogram returns the buckets of a histogram. Those of all series are added.
func (m Metrics) Histogram(metric string) Histogram {
	return m.Histograms(metric, "")[""]
}

// Histograms returns the buckets of a histogram by the values of a label. Those of series that differ in other labels are added.
func (m Metrics) Histograms(metric, label string) map[string]Histogram {
	out := map[string]Histogram{"": {}}
	for key, n := range m.Counts(metric+"_bucket", "le", label) {
		le, value, _ := strings.Cut(key, " ")
		bound, err := strconv.ParseFloat(le, 64)
		if err != nil {
			continue
		}
		if out[value] == nil {
			out[value] = Histogram{}
		}
		out[value][bound] = n
	}
	if label != "" {
		delete(out, "")
	}
	return out
}

func labelOf(labels, label string) string {
	_, value, _ := strings.Cut(","+labels, ","+label+`="`)
	value, _, _ = strings.Cut(value, `"`)
	return value
}

func valueOf(line string) (float64, error) {
	line = strings.TrimSpace(line)
	return strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
}

// A Histogram has the number of observations that are not larger than a bound.
type Histogram map[float64]float64

// Minus returns the observations since an earlier state.
func (h Histogram) Minus(before Histogram) Histogram {
	out := Histogram{}
	for le, n := range h {
		out[le] = n - before[le]
	}
	return out
}

// Quantile returns the value that a share q of the observations do not exceed, interpolated within its bucket. It is 0 if there are no
// observations, and the largest finite bound for a value above it.
func (h Histogram) Quantile(q float64) float64 {
	rank, below, lower := q*h[math.Inf(1)], 0.0, 0.0
	if rank <= 0 {
		return 0
	}
	for _, le := range sortedBounds(h) {
		if h[le] < rank {
			below, lower = h[le], le
			continue
		}
		if math.IsInf(le, 1) {
			return lower
		}
		return lower + (le-lower)*(rank-below)/(h[le]-below)
	}
	return lower
}

func sortedBounds(h Histogram) []float64 {
	out := make([]float64, 0, len(h))
	for le := range h {
		out = append(out, le)
	}
	slices.Sort(out)
	return out
}
