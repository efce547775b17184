// SPDX-License-Identifier: Apache-2.0

// Package verify verifies the signatures of modules, and decides which errors mean
// that a module is not verified.
package verify
