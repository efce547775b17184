// SPDX-License-Identifier: Apache-2.0

// Package mapper maps kinds to the paths of their objects.
//
// A table contains the kinds that all supported clusters serve, so that most modules need no discovery. Other kinds are
// discovered by group and version, and cached for some minutes. Missing kinds are cached for a few seconds only, because
// they may be installed soon.
package mapper
