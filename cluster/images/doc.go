// SPDX-License-Identifier: Apache-2.0

// Command images makes what is shipped: the image of the provider, for each
// platform, and the packages of Crossplane. It needs no container engine.
//
//	images [-dir bin] [-version V] [-commit C] [-platforms linux/amd64,linux/arm64] [-name IMG] image
//	images [-dir bin] [-version V] [-commit C] [-platforms linux/amd64,linux/arm64] xpkg
//
// image leaves an OCI layout in bin/image, with one index of all platforms, and with
// a name also bin/image.tar, which docker load and its like read: the first platform, under that name. xpkg
// leaves bin/provider-kyma.xpkg for the first platform, a file
// bin/provider-kyma-<arch>.xpkg for each other one, and
// bin/configuration-kyma.xpkg, all of them written by Crossplane's own command
// line. Both print one line "NAME sha256:…" for each thing they made.
//
// The same commit, version and Go toolchain always make the same digests: the
// binaries hold no paths and no version control data, layers are sorted and carry
// no time.
package main
