// SPDX-License-Identifier: Apache-2.0

// Package crdcheck tells what a new version of a CRD would do to what is in a cluster: whether the
// API server could still read what it has stored, and which objects would be invalid. It asks no cluster: CRDs and
// objects are given to it, and it judges objects with the code of the API server itself.
package crdcheck
