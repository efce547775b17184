// SPDX-License-Identifier: Apache-2.0

// Package interop tests that other tools can read the output of kymactl, and vice versa: crane, oras, helm, the library that
// the first modules were created with (component-spec), and the code with which Kyma's operators fetched layers. It uses a
// registry in the same process, and no cluster.
package interop
