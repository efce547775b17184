// SPDX-License-Identifier: Apache-2.0

// Command local is the demo: it starts a real control plane with Crossplane, a second
// cluster and a registry on this machine. It pushes the packages of this repository,
// has Crossplane install them, makes modules with kymactl, claims them for the second
// cluster, and stays until Ctrl-C. modules/ holds what they are made from.
//
// With -check it asserts instead that what it shows is true, also of repair, changes
// of the channel and removal, and exits 0 or 1. With -bare it starts the provider
// without Crossplane, and makes no modules: that is for docs/first-module.md.
package main
