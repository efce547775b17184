// SPDX-License-Identifier: Apache-2.0

// Command bench measures the cost of N Manifests. It starts a control plane, a target cluster, a registry and the
// provider, creates the Manifests, and records the requests, CPU time and memory of the provider until all Manifests are
// Ready, and for an idle minute after that. It then does the same with M Kymas of three modules each, and measures the
// delay until a Kyma reports the state of its Manifests. It requires the /proc file system of Linux.
package main
