// SPDX-License-Identifier: Apache-2.0

// Package pull pulls modules and charts from OCI registries and from Helm chart repositories.
//
// It returns content only if it has the requested digest, and caches it by that digest. A caller does not get content
// from the cache that it may not pull.
package pull
