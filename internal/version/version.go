// SPDX-License-Identifier: Apache-2.0

package version

// Version is the output of git describe for the source. The linker sets it (see the Makefile). Without the linker flag,
// the build is a development build.
var Version = unset //nolint:gochecknoglobals // The linker can set nothing else.

// Commit is the commit of the source if the linker sets it. Otherwise, Get uses the commit that the go command stored in
// the binary.
var Commit = "" //nolint:gochecknoglobals // The linker can set nothing else.

// unset is the version of a build without the linker flag.
const unset = "v0.0.0-dev"
