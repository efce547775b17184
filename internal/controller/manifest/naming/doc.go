// SPDX-License-Identifier: Apache-2.0

// Package naming decides what the inventory of a Manifest is called, and which names a Manifest may choose. Tenants can share a
// cluster, and a tenant that knows the name of an inventory could otherwise claim what another one installed.
package naming
