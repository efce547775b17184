// SPDX-License-Identifier: Apache-2.0

// Package transport provides the HTTP connection to one API server, which may be slow, unavailable or malicious.
//
// Each target cluster has its own transport, so that closing it leaves nothing behind. A request passes through these
// layers, from the outermost to the innermost:
//
//	gate    rejects requests while the server is not reachable: a circuit breaker, or the state that probes determine
//	auth    adds the credentials of client-go or of an identity
//	guard   rejects redirects, limits responses, counts requests, and simplifies errors
//	http    handles TLS, HTTP/2 and the connection pool
//
// Errors are stable: equal failures have equal messages, without local ports, times and changing addresses, so that a
// condition can contain them.
package transport
