// SPDX-License-Identifier: Apache-2.0

// Package transfer is kymactl module push, pull and copy: a module with all that
// belongs to it goes from one place to another, byte for byte.
package transfer
