// SPDX-License-Identifier: Apache-2.0

package target

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// renewPause is the minimum time between two attempts to replace a token that the API server rejects.
const renewPause = time.Minute

// A renewer adds the tokens of an identity to requests. Cloud libraries cache a token until it expires. If the API server
// rejects it earlier, because the account or a permission has changed, the renewer starts again from the credentials, so that
// the next request uses a new token.
type renewer struct {
	// add returns a transport that adds tokens, without a cached token.
	add func(base http.RoundTripper) (http.RoundTripper, error)
	now func() time.Time

	base http.RoundTripper

	// mu protects the fields below.
	mu      sync.Mutex
	current http.RoundTripper
	renewed int // Number of times that current was replaced.
	since   time.Time
}

// renewing makes the tokens that wrap adds to a REST config renewable.
func renewing(rc *rest.Config, wrap func(rc *rest.Config) error) error {
	// Parameters of an identity can be in exec, which wrap removes.
	template, before := rest.CopyConfig(rc), rc.WrapTransport
	if err := wrap(rc); err != nil {
		return err
	}
	first := rc.WrapTransport
	rc.WrapTransport = func(base http.RoundTripper) http.RoundTripper {
		return &renewer{base: base, current: first(base), now: time.Now, since: time.Now(), add: func(base http.RoundTripper) (http.RoundTripper, error) {
			fresh := rest.CopyConfig(template)
			fresh.WrapTransport = before
			if err := wrap(fresh); err != nil {
				return nil, err
			}
			return fresh.WrapTransport(base), nil
		}}
	}
	return nil
}

// RoundTrip implements http.RoundTripper.
func (r *renewer) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	current, renewed := r.current, r.renewed
	r.mu.Unlock()
	resp, err := current.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		r.renew(renewed)
	}
	return resp, err
}

// renew replaces the transport whose token was rejected, unless it has already been replaced.
func (r *renewer) renew(renewed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.renewed != renewed || r.now().Sub(r.since) < renewPause {
		return
	}
	r.since = r.now()
	if next, err := r.add(r.base); err == nil {
		r.current = next
		r.renewed++
	}
}
