// SPDX-License-Identifier: Apache-2.0

// Package cosign makes and verifies signatures of manifest digests with keys, in the form that cosign and compatible
// admission controllers read.
//
// That is the classic form, a manifest under the tag sha256-….sig. Version 3 of cosign makes bundles by default, but
// still verifies the classic form if an artifact has no bundle: cosign verify --key, with --insecure-ignore-tlog, since
// nothing is written to a public log. This package does not read bundles.
package cosign
