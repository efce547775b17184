// SPDX-License-Identifier: Apache-2.0

package informer

import "time"

// briefWatch is the duration below which a watch counts as brief.
const briefWatch = 10 * time.Second

// A resumption describes the watches of a kind that resumed an earlier watch.
type resumption struct {
	// at is the start of the last watch.
	at time.Time
	// version is the resource version from which it resumed. since is the time at which the first of consecutive brief watches
	// from this version ended.
	version string
	since   time.Time
}

// stuck reports whether all watches from a version have been brief for so long that the kind must be listed. This happens if an
// event cannot be decoded: it ends each watch, so later events are never received.
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
