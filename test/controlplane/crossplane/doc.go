// SPDX-License-Identifier: Apache-2.0

// Package crossplane runs all of Crossplane against a control plane, without a
// node: its core and its RBAC manager are processes, and packages come from a
// registry in the test.
//
// What a node would do is played. A provider's Deployment is run as a process: the
// binary is taken out of the package's image, and gets a token of the service
// account that Crossplane made for it, and nothing else, so that the rights which
// the RBAC manager gave it are the ones it has. Functions are processes with
// certificates of Crossplane's authority. All of them are gone after Stop, or with
// the process that called Start.
//
// Packages are named as users name them, below Host: an ImageConfig leads each
// name to the registry of the test, as it would to a mirror.
package crossplane
