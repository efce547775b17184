// SPDX-License-Identifier: Apache-2.0

// Package crossplane runs all of Crossplane against a control plane without a node: its core and its RBAC manager are
// processes, and packages come from a registry in the test.
//
// The package simulates a node. It runs the Deployment of a provider as a process: it extracts the binary from the
// package's image, and gives it only a token of the service account that Crossplane created for it. The process therefore
// has exactly the permissions that the RBAC manager granted. Functions are processes with certificates of Crossplane's
// authority. All of them end with Stop, or with the process that called Start.
//
// Packages have the names that users use, below Host. An ImageConfig rewrites each name to the registry of the test, as
// it would for a mirror.
package crossplane
