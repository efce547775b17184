// SPDX-License-Identifier: Apache-2.0

// Package tools builds and finds the binaries that the local control plane, the
// tests and the Makefile run: servers, command lines and the linter.
//
// They are built from Go modules, by directories with a go.mod of their own below
// this one, so that their versions and replace directives never meet those of the
// provider. Tools with the same dependencies share a module: servers has one set of
// Kubernetes libraries for Kubernetes, kwok and Crossplane, and clients has that of
// the provider. A binary is built once per user, into
// ${XDG_CACHE_HOME:-~/.cache}/provider-kyma/<hash>/<binary>, where the hash covers
// everything that decides its content, so that a second clone starts at once.
//
// A build takes minutes, and never happens in passing: a command says with Missing and
// Run (or Ensure) what it is going to run, before it starts anything, and Path only
// looks.
package tools
