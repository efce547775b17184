// SPDX-License-Identifier: Apache-2.0

// Package version provides the version and the commit of this build.
package version
