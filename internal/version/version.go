// SPDX-License-Identifier: Apache-2.0

package version

// Version is what git describes the source as. The linker sets it (see the
// Makefile); a build without it is a development build.
var Version = unset //nolint:gochecknoglobals // The linker can set nothing else.

// Commit is the commit of the source, where the linker sets it. Without it, it is the one that the go command has written
// into the binary.
var Commit = "" //nolint:gochecknoglobals // The linker can set nothing else.

// unset is the version of a build that the linker was told nothing about.
const unset = "v0.0.0-dev"
