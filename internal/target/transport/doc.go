// SPDX-License-Identifier: Apache-2.0

// Package transport is the HTTP connection to one API server that may be slow, dead or hostile.
//
// Each target cluster has a transport of its own, so that closing it leaves nothing behind. Requests pass, from the
// outside to the inside:
//
//	gate    a circuit breaker: while the server cannot be reached, requests fail at once
//	auth    what client-go and the identities put into the request
//	guard   redirects are refused, answers bounded, requests counted, and errors put into plain words
//	http    TLS, HTTP/2, the pool of connections
//
// Errors are stable: equal failures give equal texts, without ports of ours, times or addresses that come and go, so
// that they can stand in a condition.
package transport
