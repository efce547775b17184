// SPDX-License-Identifier: Apache-2.0

package h2

import (
	"io"
	"net/http"
	"sync/atomic"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/net/http/httpguts"
)

// validate returns an error for a request that must not be sent to the server with an address. It contains no values of headers, because they can be secret.
func validate(req *http.Request, address string) error {
	switch {
	case req.URL == nil:
		return errors.New("the request has no URL")
	case req.URL.Scheme != "https" || addressOf(req.URL) != address:
		return errors.Errorf("a connection to %s cannot be used for a request to %s://%s", address, req.URL.Scheme, req.URL.Host)
	case req.Method != "" && !httpguts.ValidHeaderFieldName(req.Method): // A method is a token, like the name of a header.
		return errors.Errorf("the method of the request is invalid: %q", req.Method)
	}
	for name, values := range req.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return errors.Errorf("the name of a header of the request is invalid: %q", name)
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) {
				return errors.Errorf("the value of header %s of the request is invalid", name)
			}
		}
	}
	return nil
}

// A trackedBody is the body of a request. It remembers whether it was used, and can be closed more than once.
type trackedBody struct {
	io.ReadCloser

	read, closed atomic.Bool
}

// Read reads from the body.
func (b *trackedBody) Read(p []byte) (int, error) {
	b.read.Store(true)
	return b.ReadCloser.Read(p) //nolint:wrapcheck // It is the error of the body.
}

// Close closes the body.
func (b *trackedBody) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	return b.ReadCloser.Close() //nolint:wrapcheck // It is the error of the body.
}

// withBody returns a request with another body, which is tracked. The body can be nil.
func withBody(req *http.Request, body io.ReadCloser) *http.Request {
	if body == nil || body == http.NoBody {
		return req
	}
	out := *req
	out.Body = &trackedBody{ReadCloser: body}
	return &out
}

// again returns a request that can be sent after it was not processed. It returns an error if this needs a body that cannot be read again.
func again(req *http.Request) (*http.Request, error) {
	b, ok := req.Body.(*trackedBody)
	if !ok || !b.read.Load() && !b.closed.Load() {
		return req, nil
	}
	if err := b.Close(); err != nil {
		return nil, errors.Wrap(err, "cannot send the body of the request again")
	}
	if req.GetBody == nil {
		return nil, errors.New("cannot send the body of the request again, because it can only be read once")
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, errors.Wrap(err, "cannot send the body of the request again")
	}
	return withBody(req, body), nil
}

// failed closes the body of a request, and returns its error. This is exactly the given one unless the body cannot be closed.
func failed(req *http.Request, err error) error {
	if !hasBody(req) {
		return err
	}
	if e := req.Body.Close(); e != nil {
		return errors.Join(err, e)
	}
	return err
}
