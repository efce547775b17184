// SPDX-License-Identifier: Apache-2.0

// Package source creates the layers that a manifest.Bundle installs: from directories and archives (Path, FS), from artifacts in
// a registry (OCI), from charts in a chart repository (ChartRepository), and from objects (YAML, Objects). To write your own
// source, create a Layer with a digest and a function that fetches the content.
package source
