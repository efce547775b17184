// SPDX-License-Identifier: Apache-2.0

// Package survey measures the Go code of a repository without compiling it: the sizes of packages, files and functions,
// the methods of types, and the references between the files of a package. It excludes tests and generated files unless
// noted.
package survey
