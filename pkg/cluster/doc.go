// SPDX-License-Identifier: Apache-2.0

// Package cluster holds the nouns that the engine of package manifest and a connection to a cluster share: what a Cluster
// can do, how an object is named (ObjectRef), how its kind is addressed (Mapping), and what is known of it without a request
// (ObjectState, which a Cache keeps).
//
// Package connect makes a Cluster of a REST config. Any other implementation of the interfaces works, too.
package cluster
