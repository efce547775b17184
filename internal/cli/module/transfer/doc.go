// SPDX-License-Identifier: Apache-2.0

// Package transfer implements kymactl module push, pull, copy and unpack. The first three copy a module with everything that
// belongs to it, byte for byte.
package transfer
