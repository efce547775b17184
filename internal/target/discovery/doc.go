// SPDX-License-Identifier: Apache-2.0

// Package discovery lists the API versions and kinds that a cluster serves.
//
// A cluster can serve any number of them, in any number of documents. Therefore, the number and the size of the documents, and what
// is kept of them, are limited for each discovery, and only few documents are requested at the same time.
package discovery
