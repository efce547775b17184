// SPDX-License-Identifier: Apache-2.0

package requeue

import (
	"maps"
	"time"
)

const (
	// perSecond limits the number of passes per second that changes in one cluster cause, and burst limits the number of passes
	// at the same time. Otherwise, a cluster with very many Manifests, or with an operator that changes all of them, would fill
	// the queue.
	perSecond = 50
	burst     = 200
	// mostIdle is the number of clusters at which the buckets of idle clusters are deleted.
	mostIdle = 1024
)

// buckets contains, for each cluster, the time at which its bucket is full again. It is not safe for concurrent use.
type buckets map[string]time.Time

// take reserves a turn of a cluster, and returns how long to wait for it.
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
