// SPDX-License-Identifier: Apache-2.0

// Package informer keeps the state of the objects of one cluster in memory, so that reading it needs no request.
//
// A Cache holds one watch for each kind in use, filtered by a label selector, and a cluster.ObjectState for each object,
// but never the object itself. For kinds without a status, it watches metadata only. The cache also stores responses to
// the engine's own writes. The newest resource version wins, whatever its source: a response that is older than the list and
// the events of its kind does not add an object that these no longer contain.
//
// A ChangeFunc is called for changes by other clients, but not for the engine's own writes or for objects in the first
// list of a kind.
package informer
