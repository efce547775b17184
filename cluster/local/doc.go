// SPDX-License-Identifier: Apache-2.0

// Command local is the demo: it starts a real control plane with Crossplane, a second
// cluster and a registry on this machine. It pushes the packages of this repository,
// has Crossplane install them, claims modules for the second cluster, and stays until
// Ctrl-C. modules/ holds what they are made from.
//
// With -check it asserts instead that what it shows is true, also of repair, changes
// of the channel and removal, and exits 0 or 1. With -bare it starts a control plane
// and the provider only, without Crossplane.
package main
