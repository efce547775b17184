// SPDX-License-Identifier: Apache-2.0

// Command bench measures what N Manifests cost: it starts a control plane, a
// target cluster, a registry and the provider, creates the Manifests, and counts
// requests, CPU time and memory of the provider until all of them are Ready, and
// during an idle minute after that. Then it does the same with M Kymas of three
// modules each, and measures how long the Kyma takes to say what its Manifests
// say. It needs the /proc file system of Linux.
package main
