// SPDX-License-Identifier: Apache-2.0

// Package release finds the ModuleReleaseMeta of a module and the release of one of its channels, and changes a release in a
// single write.
package release
