// SPDX-License-Identifier: Apache-2.0

// Package cosign has the real cosign read the signatures that internal/cosign
// makes, and internal/cosign those of the real one.
package cosign
