// SPDX-License-Identifier: Apache-2.0

// Package store reads and writes OCI artifacts at their locations, and copies them between locations. Package remote
// accesses a repository of a registry, and package layout an OCI image layout.
//
// It is for moving artifacts byte for byte. Code that installs artifacts pulls them with package pull, which caches
// and trusts no source.
package store
