// SPDX-License-Identifier: Apache-2.0

// Package oci pulls modules and charts from OCI registries and from Helm chart
// repositories, and reads the archives that it pulled.
//
// Everything that comes from a network is treated as hostile. Bodies are
// bounded whatever their headers claim, content is only returned when it has
// the digest that was asked for, redirects carry no credentials, and TLS can
// not be switched off (only replaced by plain HTTP, where a Registry says so)
// but by a person at a command line.
//
// Content is cached by its digest, on disk or in memory, so that a second pull
// costs no request. A cache is shared by tenants that must not see each
// other's content, which gives two rules. Content is filed under the server
// that delivered it, so a registry can never vouch for what another one
// delivered. And a caller is only served from the cache after its own
// credentials were seen to work for that repository and digest, in this
// process or by a HEAD request now.
//
// This is the only package that imports go-containerregistry.
package oci
