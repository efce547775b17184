// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"math"
	"slices"
	"time"
)

// Percentile returns a percentile of durations, by the nearest rank, or 0 if there are none.
func Percentile(d []time.Duration, p float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}
