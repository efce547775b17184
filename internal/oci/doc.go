// SPDX-License-Identifier: Apache-2.0

// Package oci is a client of OCI registries and Helm chart repositories: it determines which hosts are allowed, how
// to reach them and with which credentials.
//
// It treats everything from the network as hostile. Bodies are bounded whatever their headers claim, and redirects
// carry no credentials. Only a user at a command line can disable the verification of TLS; otherwise TLS can only be
// replaced by plain HTTP, if a Registry allows it. Errors are one line that states the problem and the fix, and never
// contain a secret.
//
// A Pool reads from many repositories, for a process that serves many. A Session reads and writes one repository, for
// a user at a command line. The packages below verify content against its digest and cache it.
//
// Only this package and those below it import go-containerregistry.
package oci
