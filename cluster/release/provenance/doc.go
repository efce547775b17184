// SPDX-License-Identifier: Apache-2.0

// Package provenance describes from which source and with which parameters a release was built: an in-toto statement with the
// provenance predicate of SLSA. The same build always produces the same statement, so it contains no times.
package provenance
