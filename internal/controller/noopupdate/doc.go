// SPDX-License-Identifier: Apache-2.0

// Package noopupdate provides a client that suppresses updates that would change nothing. crossplane-runtime updates the
// status of a managed resource in each reconcile: with thousands of idle resources, these updates would be most of the load
// on the API server.
package noopupdate
