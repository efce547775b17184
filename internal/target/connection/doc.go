// SPDX-License-Identifier: Apache-2.0

// Package connection is one connection to one cluster: a transport with the credentials, the clients that share it, the
// mapping of kinds, and the watches. It knows nothing of where the credentials are from.
package connection
