// SPDX-License-Identifier: Apache-2.0

// Package chart packs the Helm chart for a version, as a file and as an artifact for registries, without helm: helm package writes the
// current time into the archive, so that the same chart would have another digest each time.
package chart
