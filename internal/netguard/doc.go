// SPDX-License-Identifier: Apache-2.0

// Package netguard opens all connections to other machines: to API servers, registries, chart repositories, and token
// servers. No other package dials. The exception is the SDKs of clouds, which ask the metadata service of the provider's own
// pod for its identity, at an address that no tenant names.
//
// A tenant, a registry or a redirect names hosts, and the provider may reach machines that they cannot: the metadata
// service of its cloud, Services of its cluster, programs on its own node. A Guard therefore decides about the address
// that a name resolved to, when the connection is opened. A name or a redirect cannot bypass it, and neither can a name
// that resolves differently the next time.
//
// Who named the host determines what is refused, see Trust.
package netguard
