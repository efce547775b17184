// SPDX-License-Identifier: Apache-2.0

// Package sourcetest registers a source type that the API does not have. Tests import it to show that a new type requires no change
// of the package under test.
package sourcetest
