// SPDX-License-Identifier: Apache-2.0

// Package naming determines the name of the inventory of a Manifest, and which names a Manifest can choose. Tenants can share a
// cluster, and without restrictions, a tenant who knows the name of an inventory could take over what another tenant installed.
package naming
