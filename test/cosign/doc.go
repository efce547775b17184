// SPDX-License-Identifier: Apache-2.0

// Package cosign tests that the real cosign accepts the signatures of internal/cosign, and vice versa.
package cosign
