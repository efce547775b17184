// SPDX-License-Identifier: Apache-2.0

// Package netguard opens all connections to other machines: to API servers, registries, chart repositories and token servers.
// No other package dials. The only exceptions are cloud SDKs, which request the identity of the provider's own pod from the
// metadata service, at an address that tenants cannot change.
//
// Tenants, registries and redirects specify hosts, and the provider might be able to reach machines that they cannot reach: the
// metadata service of its cloud, Services of its cluster, and programs on its own node. A Guard therefore checks the resolved
// address when a connection is opened. Neither a name nor a redirect can bypass this check, and neither can a name that
// resolves differently the next time.
//
// Which addresses are refused depends on who specified the host, see Trust.
package netguard
