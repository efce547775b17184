// SPDX-License-Identifier: Apache-2.0

// Package source contains the source types of the installs of a Manifest. Each type is one file with an implementation of Source,
// which an init function registers under the type name of the API. No other package branches on the type of a source; test/boundary
// enforces this.
package source
