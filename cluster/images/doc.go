// SPDX-License-Identifier: Apache-2.0

// Command images builds the release artifacts: the image of the provider for each platform, and the Crossplane packages.
// It needs no container engine.
//
//	images [-dir bin] [-version V] [-commit C] [-platforms linux/amd64,linux/arm64] [-name IMG] image
//	images [-dir bin] [-version V] [-commit C] [-platforms linux/amd64,linux/arm64] xpkg
//
// The command image writes an OCI layout to bin/image, with one index of all platforms. With -name, it also writes the
// image of the first platform, tagged with that name, to bin/image.tar, for docker load and similar tools. The command
// xpkg writes bin/provider-kyma.xpkg for the first platform, bin/provider-kyma-<arch>.xpkg for each other platform, and
// bin/configuration-kyma.xpkg. Crossplane's command line builds these packages. Both commands print a line "NAME
// sha256:…" for each artifact.
//
// The same commit, version and Go toolchain always produce the same digests: the binaries contain no paths and no version
// control data, and layers are sorted and have no timestamps.
package main
