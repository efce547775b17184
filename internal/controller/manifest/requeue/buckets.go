// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"maps"
	"time"
)

const (
	// perSecond is how many passes the changes in one cluster cause in a second, and burst how many at once. A cluster with very many
	// Manifests, or with an operator that changes all of them, would otherwise use the queue alone.
	perSecond = 50
	burst     = 200
	// mostIdle is the number of clusters that are remembered before those at rest are forgotten.
	mostIdle = 1024
)

// Buckets hold, for each cluster, the time at which its bucket is full again. They are not safe for concurrent use.
type buckets map[string]time.Time

// take takes a turn of a cluster, and returns how long to wait for it.
func (b buckets) take(cluster string, now time.Time) time.Duration {
	full := b[cluster]
	if full.Before(now) {
		full = now
		if len(b) > mostIdle {
			maps.DeleteFunc(b, func(_ string, t time.Time) bool { return t.Before(now) })
		}
	}
	full = full.Add(time.Second / perSecond)
	b[cluster] = full
	return max(0, full.Sub(now)-burst*time.Second/perSecond)
}
