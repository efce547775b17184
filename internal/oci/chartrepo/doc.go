// SPDX-License-Identifier: Apache-2.0

// Package chartrepo finds charts in Helm chart repositories, using their index.yaml, and downloads their archives.
//
// It requests the index each time, but transfers it only after a change, if the server supports that. It caches
// archives; cached content of an archive is valid only for exactly the same URL.
package chartrepo
