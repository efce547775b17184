// SPDX-License-Identifier: Apache-2.0

// Package target connects to target clusters.
//
// A Resolver reads the credentials that a provider config names, and says by a digest which they are. A Pool keeps one
// Cluster for each digest, as long as someone uses it: managed resources with the same credentials share a connection,
// its mapping of kinds and its watches, and one whose credentials were rotated moves to a new connection at its next
// look, which closes the old one. A Cluster is what the engine in pkg/manifest works on.
package target
