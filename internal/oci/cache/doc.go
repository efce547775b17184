// SPDX-License-Identifier: Apache-2.0

// Package cache keeps what was pulled by its digest, on disk or in memory, so
// that a second pull costs no request.
//
// A cache is shared by tenants that must not see each other's content, which
// gives two rules. Content is filed under a scope, which is who delivered it, so
// that a registry can never vouch for what another one delivered. And a caller
// is only served from the cache after its own credentials were seen to work for
// that content, in this process or by a question now.
package cache
