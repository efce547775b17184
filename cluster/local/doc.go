// SPDX-License-Identifier: Apache-2.0

// Command local is the demo: it starts a real control plane, a second cluster, a
// registry and the provider on this machine, has a Kyma install modules into the
// second cluster, and stays until Ctrl-C. modules/ holds what they are made from.
//
// With -check it asserts instead that what it shows is true, also of repair,
// changes of the channel and removal, and exits 0 or 1. With -bare it starts the control plane and the
// provider only.
package main
