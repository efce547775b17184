// SPDX-License-Identifier: Apache-2.0

// Package verify checks that modules are signed, and decides which errors mean that
// one is not verified.
package verify
