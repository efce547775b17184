// SPDX-License-Identifier: Apache-2.0

// Package fixed reads from the refusal of an API server which fields of an object cannot be changed, and why.
package fixed
