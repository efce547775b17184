// SPDX-License-Identifier: Apache-2.0

// Package fakeapi implements an API server in memory, for tests of the engine that do not need a real one. They cover each
// decision about an object, each order of requests, and faults at each request.
//
// Server-side apply and managedFields use the code of Kubernetes itself; each map is granular, and each list atomic. Defaults,
// validation and controllers exist only as far as the tests need them. Other tests use a real API server to check its responses.
package fakeapi
