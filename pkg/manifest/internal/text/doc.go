// SPDX-License-Identifier: Apache-2.0

// Package text shortens what others wrote so that it fits into a condition or an error.
package text
