// SPDX-License-Identifier: Apache-2.0

// Package connection connects to one cluster: it combines a transport with the credentials, the clients that share it,
// the mapping of kinds, and the watches. It does not depend on the source of the credentials.
package connection
