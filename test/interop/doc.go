// SPDX-License-Identifier: Apache-2.0

// Package interop has the tools of others read what kymactl makes, and kymactl
// read what they make: crane, oras, helm, the library that modules were made
// with first (component-spec), and the way in which Kyma's operators fetched
// layers. There is a registry in this process, and no cluster.
package interop
