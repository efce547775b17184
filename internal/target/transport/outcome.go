// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// A State reports whether an API server can be used.
type State string

// These are the states.
const (
	// Unknown is the state until a request succeeds or fails.
	Unknown State = ""
	// Connected means that an API server responded.
	Connected State = "Connected"
	// Unauthorized means that the API server rejected the credentials.
	Unauthorized State = "Unauthorized"
	// Unreachable means that the API server did not respond, or that another server did.
	Unreachable State = "Unreachable"
	// WrongCluster means that the API server of a different cluster responded than the one that a user of the connection
	// belongs to. Requests do not show this, so it is not a state of an Outcome.
	WrongCluster State = "WrongCluster"
	// Parked means that the watches of a connected cluster were closed, because it was quiet. It is not a state of an Outcome either.
	Parked State = "Parked"
)

// An Outcome is the result of the latest requests. Outcomes are comparable with ==.
type Outcome struct {
	State State
	// Message is one line without credentials and times. It is empty while the state is Unknown.
	Message string
}

// refusedCredentials is the message for requests whose credentials the server rejects.
const refusedCredentials = "API server rejects the credentials (401 Unauthorized); check the user in the " +
	"kubeconfig, or spec.identity"

// tolerated is the number of consecutive ambiguous failures after which a connected server counts as unreachable.
const tolerated = 3

// outcomes derives the outcome of the requests to one server from the regular requests.
type outcomes struct {
	host    string
	path    string
	changed func()
	// doubted is called after an ambiguous failure of a connected server; optional.
	doubted func()

	mu       sync.Mutex
	now      Outcome
	failures int
	// lost counts how often the server was no longer Connected.
	lost uint64
}

// get returns the current outcome.
func (o *outcomes) get() Outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now
}

// losses returns how often the server was no longer Connected.
func (o *outcomes) losses() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}

// answered records a response. Only errors of core resources prove that something is wrong, because others may come from
// an extension API server.
func (o *outcomes) answered(u *url.URL, resp *http.Response, probe bool) {
	switch core := o.isCore(u); {
	case resp.StatusCode < http.StatusBadRequest && isAPI(resp), core && resp.StatusCode < http.StatusInternalServerError &&
		resp.StatusCode != http.StatusUnauthorized && isAPI(resp):
		o.connected(probe)
	case !core:
	case resp.StatusCode == http.StatusTooManyRequests:
		// API servers send this response as plain text. It proves little, but a probe must have a result.
		if probe {
			o.connected(probe)
		}
	case resp.StatusCode == http.StatusUnauthorized:
		o.set(Outcome{State: Unauthorized, Message: refusedCredentials})
	case resp.StatusCode >= http.StatusInternalServerError:
		o.doubt("API server "+o.host+" returned "+strconv.Itoa(resp.StatusCode)+" "+http.StatusText(resp.StatusCode), probe)
	default:
		o.doubt((&notfound.Error{Host: o.host}).Error(), probe)
	}
}

// connected records a response of an API server. A successful probe of a connected server does not prove that the server
// responds to other requests, so it does not reset the number of failures.
func (o *outcomes) connected(probe bool) {
	o.mu.Lock()
	if !probe {
		o.failures = 0
	}
	o.mu.Unlock()
	o.set(Outcome{State: Connected, Message: "API server " + o.host + " responds"})
}

// failed records a request without a response. down is true if the server is certainly down. Otherwise, it might be down.
func (o *outcomes) failed(err *UnreachableError, probe, down bool) {
	if down {
		o.set(Outcome{State: Unreachable, Message: err.Error()})
		return
	}
	o.doubt(err.Error(), probe)
}

// doubt records an ambiguous failure. A connected server becomes unreachable only after tolerated consecutive failures, or if a
// probe fails.
func (o *outcomes) doubt(message string, probe bool) {
	o.mu.Lock()
	o.failures++
	enough := o.now.State != Connected || o.failures >= tolerated || probe
	if enough {
		o.failures = 0
	}
	o.mu.Unlock()
	switch {
	case enough:
		o.set(Outcome{State: Unreachable, Message: message})
	case o.doubted != nil:
		o.doubted()
	}
}

func (o *outcomes) set(next Outcome) {
	o.mu.Lock()
	same := o.now == next
	if o.now.State == Connected && next.State != Connected {
		o.lost++
	}
	o.now = next
	o.mu.Unlock()
	if !same && o.changed != nil {
		o.changed()
	}
}

// isCore reports whether kube-apiserver itself handles a request.
func (o *outcomes) isCore(u *url.URL) bool {
	path := strings.TrimPrefix(u.Path, o.path)
	return path == "/version" || strings.HasPrefix(path, "/api/")
}

// isAPI reports whether a response has a content type of API servers.
func isAPI(resp *http.Response) bool {
	t := resp.Header.Get("Content-Type")
	return strings.HasPrefix(t, "application/json") || strings.HasPrefix(t, "application/vnd.kubernetes.")
}
