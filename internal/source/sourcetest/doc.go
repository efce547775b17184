// SPDX-License-Identifier: Apache-2.0

// Package sourcetest registers a type of sources that the API does not have. Tests import it to show that a new type needs
// no change in the package that they test.
package sourcetest
