// SPDX-License-Identifier: Apache-2.0

// Package cluster implements the verbs of the API for one simulated cluster, without HTTP, and what controllers do in a real cluster:
// they establish CRDs, make workloads available, and delete the content of namespaces and the dependents of owners. Errors are those
// of a real API server.
package cluster
