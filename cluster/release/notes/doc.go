// SPDX-License-Identifier: Apache-2.0

// Package notes extracts the release notes of a version from a changelog in the format of Keep a Changelog.
package notes
