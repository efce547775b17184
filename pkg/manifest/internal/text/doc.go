// SPDX-License-Identifier: Apache-2.0

// Package text shortens texts from other programs so that they fit into a condition or an error.
package text
