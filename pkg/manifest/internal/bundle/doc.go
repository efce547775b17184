// SPDX-License-Identifier: Apache-2.0

// Package bundle has what a module wants in one cluster: a Bundle of CRDs, installs and a custom resource, as its users write
// it, and the Parts that it consists of, with the digests of their inputs. Digests are stored in clusters: golden files
// hold them.
package bundle
