// SPDX-License-Identifier: Apache-2.0

// Package source holds the types of sources that an install of a Manifest can have. Each type is one file with one
// implementation of Source, which an init function registers under the value of the API. No other package branches on the
// type of a source: test/boundary holds that.
package source
