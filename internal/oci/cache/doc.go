// SPDX-License-Identifier: Apache-2.0

// Package cache keeps pulled content by its digest, on disk or in memory, so that a second pull costs no request.
//
// Tenants that must not see each other's content share a cache, which leads to two rules. Content is stored under a
// scope, the server or URL that delivered it, so that a registry can never vouch for content that another one
// delivered. And the cache serves a caller only after the caller's own credentials have worked for that content,
// either earlier in this process or in a check at the time of the request.
package cache
