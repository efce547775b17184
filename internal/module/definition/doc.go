// SPDX-License-Identifier: Apache-2.0

// Package definition reads module.yaml, in which a module team says what their
// module consists of, and finds that out by itself in the obvious cases.
package definition
