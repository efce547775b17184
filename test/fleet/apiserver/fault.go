// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"net/http"
	"strconv"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/test/fleet/apiserver/wire"
)

// A Mode is a way in which a cluster fails.
type Mode int

// These are the modes of a Fault.
const (
	// None means that requests are answered, perhaps slowly.
	None Mode = iota
	// Refused resets open and new connections. As all clusters share an address, the TCP connection itself is accepted.
	Refused
	// BlackHole accepts connections, but neither answers a TLS handshake nor sends anything on open connections.
	BlackHole
	// Hang sends the headers of a response, but not its body.
	Hang
	// Unauthorized and Forbidden refuse all requests with status 401 and 403.
	Unauthorized
	Forbidden
	// TooManyRequests refuses all requests with status 429 and Retry-After.
	TooManyRequests
	// ServerError answers with the status code of the fault, by default 500.
	ServerError
	// StalledWatches keeps watches open, but sends no events and no bookmarks.
	StalledWatches
	// SwappedCertificate serves new connections with a certificate of another authority, and closes open ones.
	SwappedCertificate
	// Replaced lets an empty cluster with other UIDs respond at the same address and with the same credentials. When the fault ends, the original
	// cluster is back with its objects. Open connections are closed at both times.
	Replaced
)

// A Fault describes how a cluster fails. The zero value means that it works.
type Fault struct {
	Mode Mode
	// Code is the status code of a ServerError.
	Code int
	// RetryAfter is the value of the header in seconds, with TooManyRequests and ServerError. For 0, ServerError omits the header.
	RetryAfter int
	// Latency delays each response.
	Latency time.Duration
	// BytesPerSecond limits what the server sends on a connection. 0 means no limit.
	BytesPerSecond int
}

// A fault is a Fault and a channel that is closed when it ends.
type fault struct {
	Fault

	ended chan struct{}
	// replacement is the cluster that responds during a fault of mode Replaced, or nil.
	replacement *replacement
}

// setFault replaces the fault of a cluster. It needs a replacement for the mode Replaced.
func (e *entry) setFault(f Fault, r *replacement) {
	var next *fault
	if f != (Fault{}) {
		next = &fault{Fault: f, ended: make(chan struct{}), replacement: r}
	}
	was := e.fault.Swap(next)
	if was != nil {
		close(was.ended)
	}
	if f.Mode == Refused || f.Mode == SwappedCertificate || f.Mode == Replaced || was != nil && was.Mode == Replaced {
		e.closeConns()
	}
}

// now returns the fault of a cluster. It is never nil, but the channel of a cluster that works is.
func (e *entry) now() *fault {
	if f := e.fault.Load(); f != nil {
		return f
	}
	return &fault{}
}

// fail answers a request of a cluster that fails. It returns false for a request that must be processed.
func (e *entry) fail(w http.ResponseWriter, r *http.Request) bool { //nolint:gocyclo // A case for each mode.
	f := e.now()
	if f.Latency > 0 {
		pause(r.Context(), f.Latency)
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	switch f.Mode {
	case None, Refused, BlackHole, StalledWatches, SwappedCertificate, Replaced:
		return false
	case Hang:
		w.Header().Set("Content-Type", wire.JSON)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // The client may be gone.
		select {
		case <-f.ended:
		case <-r.Context().Done():
		}
	case Unauthorized:
		writeError(w, kerrors.NewUnauthorized("Unauthorized"))
	case Forbidden:
		writeError(w, kerrors.NewForbidden(schema.GroupResource{}, "", errors.Errorf(
			"User \"fleet\" cannot %s path %q", r.Method, r.URL.Path)))
	case TooManyRequests:
		if f.RetryAfter == 0 {
			w.Header().Set("Retry-After", "1")
		}
		http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
	case ServerError:
		code := f.Code
		if code == 0 {
			code = http.StatusInternalServerError
		}
		writeError(w, kerrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", "", f.RetryAfter, true))
	}
	return true
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
