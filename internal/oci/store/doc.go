// SPDX-License-Identifier: Apache-2.0

// Package store reads and writes OCI artifacts where they lie: in a repository
// of a registry, or in an OCI image layout, which is a folder or a tar.
//
// It is for whoever moves artifacts, byte for byte. Whoever installs them pulls
// with the package above, which caches and which trusts nobody.
package store
