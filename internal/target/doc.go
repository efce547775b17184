// SPDX-License-Identifier: Apache-2.0

// Package target connects to target clusters.
//
// A Resolver reads the credentials that a provider config refers to, and identifies them by a digest. A Pool keeps one
// Cluster for each digest in use. Managed resources with the same credentials share a connection, its mapping of kinds
// and its watches. If only the token of credentials changes, Rotate replaces it in the connection. After any other change, a
// managed resource moves to a new connection at its next reconciliation, and the pool closes the unused one. The engine in
// pkg/manifest operates on a Cluster.
package target
