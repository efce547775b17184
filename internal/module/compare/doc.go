// SPDX-License-Identifier: Apache-2.0

// Package compare lists the differences between two versions of objects, field by field. It compares the data of
// Secrets, but never shows it.
package compare
