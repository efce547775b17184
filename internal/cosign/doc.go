// SPDX-License-Identifier: Apache-2.0

// Package cosign makes and checks signatures of manifest digests with keys, in
// the form that cosign and the admission controllers that follow it read.
//
// That is the classic form, a manifest under the tag sha256-….sig. Version 3 of
// cosign makes bundles by default, but still verifies the classic form where an
// artifact has no bundle: cosign verify --key, with --insecure-ignore-tlog, since
// nothing is written to a public log. Bundles are not read here.
package cosign
