// SPDX-License-Identifier: Apache-2.0

package informer

import "time"

// A watch that ends before briefWatch is brief.
const briefWatch = 10 * time.Second

// A resumption is what a kind knows of the watches that continued an earlier one.
type resumption struct {
	// at is the start of the last one.
	at time.Time
	// version is the resource version that it continued from, and since is when the first of the brief ones in a row from that
	// version ended.
	version string
	since   time.Time
}

// stuck reports whether all watches from a version have been brief for so long that the kind must be listed: an event that cannot be
// decoded ends each of them, and nothing after it is seen.
func (r *resumption) stuck(version string) bool {
	now := time.Now()
	if r.version != version || now.Sub(r.at) >= briefWatch {
		r.version, r.since = version, now
		return false
	}
	if now.Sub(r.since) <= resumeFor {
		return false
	}
	r.since = now
	return true
}
