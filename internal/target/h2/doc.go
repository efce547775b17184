// SPDX-License-Identifier: Apache-2.0

// Package h2 is an HTTP/2 client that needs one goroutine for each connection, and none for each stream. The client of net/http needs
// one for each stream, and another one that waits for its data. Both are too many for the watches of thousands of clusters.
//
// A Pool is an http.RoundTripper for one server. For each connection, an http.Transport opens it, with its proxy, dialer and TLS config, and is dropped.
// If the server does not support HTTP/2, an http.Transport sends the requests, too. The body of a response is an io.ReadCloser as usual,
// and in addition has the method Idle, which calls a function when there is something to read. Therefore, no goroutine has to wait in Read.
//
// A connection has one goroutine that reads frames. It puts data into the buffer of a stream, and never waits for a reader: a server
// can't send more than the windows of the stream and of the connection before it is read. Requests are written by the goroutines that
// send them.
package h2
