// SPDX-License-Identifier: Apache-2.0

// Package tools finds, or builds on demand, the binaries that the local control
// plane, the tests and the Makefile run: servers, clients and the linter.
//
// Each tool has a Go module of its own below this folder, so that its versions
// and replace directives never meet those of the provider. A binary is built
// once per user, into
// ${XDG_CACHE_HOME:-~/.cache}/provider-kyma/<hash>/<binary>, where the hash
// covers everything that decides its content. A second clone starts at once.
package tools
