// SPDX-License-Identifier: Apache-2.0

// Package boundary checks the layout of the repository: which layers can import each other, which packages can import the large
// libraries, and how large packages, files and functions can be. It reads the source code without running it.
package boundary
