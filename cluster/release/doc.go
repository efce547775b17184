// SPDX-License-Identifier: Apache-2.0

// Command release builds everything that a release consists of into a directory, pushes the image and the packages to a registry, and
// signs them. It needs no container engine.
//
//	release -version v0.1.0 [-dir bin/release] [-platforms linux/amd64,…] [-registry R] [-key K] [-base-url U] [-builder B] [-allow-modified]
//
// The same commit, version, platforms and Go toolchain always produce the same files and digests, except for signatures. The steps are
// in build.go (programs, images, packages and archives), documents.go (what describes them) and publish.go (registry and signatures).
package main
