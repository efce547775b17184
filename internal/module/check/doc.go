// SPDX-License-Identifier: Apache-2.0

// Package check says what is wrong with a module before anyone installs it,
// without a cluster.
package check
