// SPDX-License-Identifier: Apache-2.0

// Package apiserver simulates the API servers of many clusters in one process and on one address, for tests with more clusters than
// real API servers could run beside the provider. A client selects a cluster by the server name of its TLS connection, and
// authenticates with the token of the cluster.
//
// A cluster is either simulated in memory, or a view of a real API server; see Server.AddView.
//
// The packages below it have one task each: record stores objects in little memory, kinds knows kinds and their defaults, fields
// merges objects and keeps managedFields, cluster implements the verbs and what controllers do, and wire encodes responses. The
// conformance test of test/fleet/conformance compares all of this with a real API server.
//
// Calls that are not implemented get the status code 501 and are recorded; see Server.Unknown.
package apiserver
