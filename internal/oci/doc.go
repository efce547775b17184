// SPDX-License-Identifier: Apache-2.0

// Package oci talks to OCI registries and to Helm chart repositories: it knows
// which hosts may be asked, how they are reached and as whom.
//
// Everything that comes from a network is treated as hostile. Bodies are
// bounded whatever their headers claim, redirects carry no credentials, and TLS
// can not be switched off (only replaced by plain HTTP, where a Registry says
// so) but by a person at a command line. Errors are one line that says what is
// wrong and what to change, and never tells a secret.
//
// A Pool reads from many repositories, for a process that serves many. A Session
// reads and writes one repository, for a person at a command line. What is read
// is checked against its digest and cached by the packages below.
//
// Only this package and those below it import go-containerregistry.
package oci
