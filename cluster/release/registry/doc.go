// SPDX-License-Identifier: Apache-2.0

// Package registry pushes the image and the packages of a release to a registry, with the SBOMs and the provenance as referrers: OCI
// artifacts whose subject is the image or package that they describe.
package registry
