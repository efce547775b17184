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

// A State is whether an API server can be used.
type State string

// The states.
const (
	// Unknown is the state until a request was answered, or failed.
	Unknown State = ""
	// Connected means that an API server answered.
	Connected State = "Connected"
	// Unauthorized means that it refused the credentials.
	Unauthorized State = "Unauthorized"
	// Unreachable means that it did not answer, or that something else did.
	Unreachable State = "Unreachable"
)

// An Outcome is what the latest requests came to. Equal outcomes are equal values.
type Outcome struct {
	State State
	// Message is one line without credentials and times; empty while the state is Unknown.
	Message string
}

// refused is the message of requests whose credentials the server refuses.
const refusedCredentials = "API server refuses the credentials (401 Unauthorized); check the user of the kubeconfig, or the identity" //nolint:gosec // A message.

// tolerated is how many requests in a row may fail in a way that says little about the server.
const tolerated = 3

// outcomes keeps the outcome of the requests to one server, from what the requests come to anyway.
type outcomes struct {
	host    string
	path    string
	changed func()

	mu       sync.Mutex
	now      Outcome
	failures int
}

// get returns the present outcome.
func (o *outcomes) get() Outcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now
}

// answered takes an answer into account. Only those about core resources prove that something is wrong: the others may be from an
// extension API server.
func (o *outcomes) answered(u *url.URL, resp *http.Response) {
	switch core := o.isCore(u); {
	case resp.StatusCode < http.StatusBadRequest && isAPI(resp), core && resp.StatusCode < http.StatusInternalServerError &&
		resp.StatusCode != http.StatusUnauthorized && isAPI(resp):
		o.set(Outcome{State: Connected, Message: "API server " + o.host + " answers"})
	case !core:
	case resp.StatusCode == http.StatusUnauthorized:
		o.set(Outcome{State: Unauthorized, Message: refusedCredentials})
	case resp.StatusCode >= http.StatusInternalServerError:
		o.doubt("API server " + o.host + ": answers " + strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode))
	default:
		o.doubt((&notfound.Error{Host: o.host}).Error())
	}
}

// failed takes a request into account that got no answer.
func (o *outcomes) failed(err *UnreachableError) {
	if err.Down {
		o.set(Outcome{State: Unreachable, Message: err.Error()})
		return
	}
	o.doubt(err.Error())
}

// doubt whether the server can be reached. Once it was, one failure is not enough.
func (o *outcomes) doubt(message string) {
	o.mu.Lock()
	o.failures++
	enough := o.now.State != Connected || o.failures >= tolerated
	o.mu.Unlock()
	if enough {
		o.set(Outcome{State: Unreachable, Message: message})
	}
}

func (o *outcomes) set(next Outcome) {
	o.mu.Lock()
	same := o.now == next
	o.now = next
	if next.State != Unreachable {
		o.failures = 0
	}
	o.mu.Unlock()
	if !same && o.changed != nil {
		o.changed()
	}
}

// isCore reports whether a request is one that kube-apiserver answers itself.
func (o *outcomes) isCore(u *url.URL) bool {
	path := strings.TrimPrefix(u.Path, o.path)
	return path == "/version" || strings.HasPrefix(path, "/api/")
}

// isAPI reports whether an answer has a form in which API servers answer.
func isAPI(resp *http.Response) bool {
	t := resp.Header.Get("Content-Type")
	return strings.HasPrefix(t, "application/json") || strings.HasPrefix(t, "application/vnd.kubernetes.")
}
