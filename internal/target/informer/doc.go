// SPDX-License-Identifier: Apache-2.0

// Package informer keeps the state of the objects of one cluster in memory, so that reading it needs no request.
//
// A Cache holds one watch for each kind that is in use, filtered by a label selector, and a cluster.ObjectState of each
// object, never the object. It watches metadata only for kinds without a status. It also takes the answers to the engine's
// own writes; the newest resource version wins, whichever way it came.
//
// A ChangeFunc is called for changes that other clients make, but not for the engine's own writes and not for what the first
// listing of a kind finds.
package informer
