// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"net"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/net/http2"
)

// These are the errors of requests. The texts of the first two are those of net/http, which callers compare.
var (
	errLost   = errors.New("http2: client connection lost")
	errGoAway = errors.New("http2: server sent GOAWAY and closed the connection")
	errClosed = errors.New("the body of the response is closed")
	errIdle   = errors.New("the connection is idle")
	errLength = errors.New("the length of the body of the request is not the announced one")
	// errUnused means that the server did not process the request, which can be sent again on another connection.
	errUnused = errors.New("the HTTP/2 connection cannot be used")
	// errPoolClosed is the error of requests after Close.
	errPoolClosed = errors.Wrap(net.ErrClosed, "the connections to the server were closed")
	// errSlow is the error of an opening that took too long. It is a timeout in terms of net.Error, but not that of a context, which is the time limit of a
	// request.
	errSlow = errors.Wrapf(os.ErrDeadlineExceeded, "no connection was opened within %s", openTime)
)

// ErrStopped is the error of other requests on a connection that was closed to stop a request. It says nothing about the server.
var ErrStopped = errors.New("the connection was closed to stop another request")

// errBody is the beginning of the error of a request whose body cannot be read.
const errBody = "cannot read the body of the request"

// A resetError reports that the server ended a stream.
type resetError struct{ code http2.ErrCode }

func (e *resetError) Error() string { return "the server ended the request (" + e.code.String() + ")" }
