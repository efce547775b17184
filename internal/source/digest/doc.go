// SPDX-License-Identifier: Apache-2.0

// Package digest builds the texts that identify sources. The engine hashes them into the digest of the inputs of a part, and the
// inventory stores that digest in the target cluster. If a text changed, an upgrade of the provider would apply everything again.
// Never change a text that a released version builds.
package digest
