// SPDX-License-Identifier: Apache-2.0

// Package source makes the layers that a manifest.Bundle installs: of directories and archives (Path, FS), of artifacts in a
// registry (OCI), of charts in a chart repository (ChartRepository), and of objects (YAML, Objects). A source of your own is
// a Layer: a digest, and a function that fetches.
package source
