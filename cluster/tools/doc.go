// SPDX-License-Identifier: Apache-2.0

// Package tools builds and finds the binaries that the local control plane, the
// tests and the Makefile run: servers, command lines and the linter.
//
// Each directory with a go.mod below this one is a Go module from which tools are built, so that their versions and
// replace directives do not affect those of the provider. Tools with the same dependencies share a module: servers has
// one set of Kubernetes libraries for Kubernetes and kwok, and clients has the set of the provider. A binary is built
// once per user, as ${XDG_CACHE_HOME:-~/.cache}/provider-kyma/<hash>/<binary>. The hash covers everything that determines
// its content, so that a second clone starts at once.
//
// A build takes minutes and never starts implicitly: a command first calls Missing and Run (or Ensure) for all the tools
// that it runs, and then starts servers. Path never builds.
package tools
