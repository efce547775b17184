// SPDX-License-Identifier: Apache-2.0

// Package chartrepo finds charts in Helm chart repositories, by the index.yaml
// that each has, and downloads their archives.
//
// The index is requested each time, and only transferred when it changed, if the
// server supports that. Archives are cached; of an archive only its very URL may
// vouch for what is cached.
package chartrepo
