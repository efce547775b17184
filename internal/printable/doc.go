// SPDX-License-Identifier: Apache-2.0

// Package printable makes text from other users, clusters and registries safe to print.
package printable
