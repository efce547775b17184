// SPDX-License-Identifier: Apache-2.0

// Package create is kymactl module init and create: what a directory holds becomes a
// module in a layout.
package create
