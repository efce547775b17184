// SPDX-License-Identifier: Apache-2.0

// Package check finds errors of a module before it is installed, without a cluster.
package check
