// SPDX-License-Identifier: Apache-2.0

// Package boundary checks the layout of the repository: which layer may import which, who may import the big libraries, how
// large a package, a file and a function may be. It reads the source and runs none of it.
package boundary
