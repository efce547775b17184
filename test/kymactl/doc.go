// SPDX-License-Identifier: Apache-2.0

// Package kymactl runs the binary kymactl as its users do: as processes, against
// real registries, at the same time, interrupted, and killed. It needs no
// cluster.
package kymactl
