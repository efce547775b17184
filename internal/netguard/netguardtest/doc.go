// SPDX-License-Identifier: Apache-2.0

// Package netguardtest resolves names for tests.
package netguardtest
