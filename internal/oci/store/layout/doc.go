// SPDX-License-Identifier: Apache-2.0

// Package layout reads and writes OCI image layouts, which are a directory or a
// tar.
//
// What lies there is read by other tools, and may come from others: nothing is
// taken for what its name says before it was read. Several processes may write
// to one directory.
package layout
