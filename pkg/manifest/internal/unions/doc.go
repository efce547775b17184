// SPDX-License-Identifier: Apache-2.0

// Package unions finds what is left of one member of a union in an object that is to have another member of it.
//
// In a union of the Kubernetes API only one of several fields may be set. Server-side apply removes what its applier owns
// and no longer wants, but not what the API server filled in by itself and nobody owns. The API server then refuses the
// object, for it has two members of one union. The package knows the unions in which that happens, and no cluster.
package unions
