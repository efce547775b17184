// SPDX-License-Identifier: Apache-2.0

// Command local runs the demo: it starts a control plane with Crossplane, a second cluster, a fleet of five small clusters and a
// registry on this machine. It pushes the packages of this repository, installs them with Crossplane, creates modules with kymactl,
// claims them for the second cluster, rolls out a version over the fleet that fails in its canary, and runs until Ctrl-C. The
// directory modules contains the sources of the modules.
//
// With -check, it verifies what it demonstrates, including repair, channel changes, rollouts and removal, and exits with 0 or 1.
// With -bare, it starts the provider without Crossplane and creates no modules, for docs/first-module.md.
package main
