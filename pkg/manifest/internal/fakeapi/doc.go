// SPDX-License-Identifier: Apache-2.0

// Package fakeapi is an API server in memory for tests of the engine that need no real one: of each decision about an object, of
// each order of requests, and of faults at each request.
//
// Server-side apply and managedFields are the code of Kubernetes itself; each map is granular, and each list atomic. Of defaults,
// validation and controllers there is only what the tests need. What a real API server answers is tested against a real one.
package fakeapi
