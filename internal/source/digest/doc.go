// SPDX-License-Identifier: Apache-2.0

// Package digest builds the texts that identify sources. The engine hashes them into the digest of the inputs of a part,
// and the inventory of an installation keeps that digest in the target cluster: with another text an upgrade of the
// provider would apply everything again. No text that a released version builds may change.
package digest
