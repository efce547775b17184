// SPDX-License-Identifier: Apache-2.0

// Package layout reads and writes OCI image layouts, which are a directory or a tar.
//
// Other tools read these layouts, and others may have written them: content is trusted only after it has been read
// and verified. Several processes may write to one directory.
package layout
