// SPDX-License-Identifier: Apache-2.0

// Package cluster defines the types that the engine of package manifest shares with a connection to a cluster: the
// operations of a cluster (Cluster, which consists of Access, Mapper, Versions and Cache), the name of an object
// (ObjectRef), how to address its kind (Mapping), and its cached state (ObjectState, in a Cache).
//
// Package connect creates a Cluster from a REST config. You can also implement the interfaces yourself.
package cluster
