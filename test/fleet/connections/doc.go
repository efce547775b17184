// SPDX-License-Identifier: Apache-2.0

// Package connections measures what connections to many clusters need at rest, and checks that nothing is left of a cluster after its
// connection was closed.
package connections
