// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"sync/atomic"
	"time"
)

// responseWeight determines how fast the average response time follows the last responses.
const responseWeight = 4

// responseTimes is the average of the times between requests and the end of their responses. Later ones have a greater weight. It is safe
// for concurrent use; one of two concurrent responses can be lost.
type responseTimes struct{ average atomic.Int64 }

// add adds the time of a response.
func (t *responseTimes) add(d time.Duration) {
	if before := t.average.Load(); before > 0 {
		d = time.Duration(before) + (d-time.Duration(before))/responseWeight
	}
	t.average.Store(max(int64(d), 1))
}

// ResponseTime returns the average time between requests and the end of their responses, without watches, or 0 before the first response.
// Later responses have a greater weight.
func (t *Transport) ResponseTime() time.Duration { return time.Duration(t.guard.times.average.Load()) }
