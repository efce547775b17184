// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"sync/atomic"
	"time"
)

// responseWeight determines how fast the average response time follows the last responses.
const responseWeight = 4

// responseTimes is the average of the times between requests and the beginning of their responses. Later ones have a greater weight. It
// is safe for concurrent use; concurrent responses can be lost.
type responseTimes struct{ average atomic.Int64 }

// add adds the time of a response, or of a request that failed.
func (t *responseTimes) add(d time.Duration) {
	if before := t.average.Load(); before > 0 {
		d = time.Duration(before) + (d-time.Duration(before))/responseWeight
	}
	t.average.Store(max(int64(d), 1))
}

// ResponseTime returns the average time between requests and the beginning of their responses, without watches, or 0 before the first
// request. Later responses have a greater weight.
func (t *Transport) ResponseTime() time.Duration { return time.Duration(t.guard.times.average.Load()) }
