// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"slices"
	"time"
)

// middle returns the median of times.
func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
