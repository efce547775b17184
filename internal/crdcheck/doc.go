// SPDX-License-Identifier: Apache-2.0

// Package crdcheck determines the effect of a new version of a CRD on a cluster: whether the API server could still
// read stored objects, and which objects would become invalid. It does not access a cluster: callers pass CRDs and
// objects, and it validates objects with the code of the API server. It also determines whether a CRD in a cluster can be used in
// place of another one.
package crdcheck
