// SPDX-License-Identifier: Apache-2.0

// Package noopupdate has a client that suppresses updates that would change nothing. crossplane-runtime updates the status of a
// managed resource in each reconcile: with thousands of resources at rest, these updates would be most of the load on the API
// server.
package noopupdate
