// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"io"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

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

// mustList reports whether all watches from a version have been brief for so long that the kind must be listed. This happens if an
// event cannot be decoded: it ends each watch, so later events are never received.
func (r *resumption) mustList(version string) bool {
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

// internalErrors are consecutive watches that ended with an error of the API server, or with an event that cannot be decoded.
type internalErrors struct{ first, last time.Time }

// retry reports whether the watch is resumed after such an error. Otherwise, the kind is listed.
func (e *internalErrors) retry(now time.Time) bool {
	const apart = time.Minute
	if now.Sub(e.last) >= apart {
		e.first = now
	}
	e.last = now
	return now.Sub(e.first) <= resumeFor
}

// isEnd reports whether a watch ended without an error of the API server: because its time was over, or the connection was closed.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err)
}
