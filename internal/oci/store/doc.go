// SPDX-License-Identifier: Apache-2.0

// Package store is about OCI artifacts where they lie, and copies them from one
// place to another. Package remote has those in a repository of a registry,
// and package layout those in an OCI image layout.
//
// It is for those who move artifacts, byte for byte. Those who install them pull
// with package pull, which caches and which trusts no one.
package store
