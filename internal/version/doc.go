// SPDX-License-Identifier: Apache-2.0

// Package version holds the version of this build.
package version
