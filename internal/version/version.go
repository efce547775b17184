// SPDX-License-Identifier: Apache-2.0

package version

// Version is what git describes the source as. The linker sets it (see the
// Makefile); a build without it is a development build.
var Version = "v0.0.0-dev" //nolint:gochecknoglobals // The linker can set nothing else.
