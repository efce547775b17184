// SPDX-License-Identifier: Apache-2.0

// Package ssa sends all requests of the engine to a cluster, mostly server-side apply. It determines which responses count as
// "not found" (Client.Absent), and converts errors of the API server into one line without values (Explain). The methods that
// read or delete an object name it in their errors; callers of Apply and the dry runs must add the name themselves.
//
// A Client updates the Cache of the cluster with the objects that it writes, so that the next call sees them before the watch
// does.
package ssa
