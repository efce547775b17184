// SPDX-License-Identifier: Apache-2.0

// Package conformance sends the same calls to the simulated API server of test/fleet/apiserver and to a real one, and compares the
// responses field by field.
package conformance
