// SPDX-License-Identifier: Apache-2.0

// Package immutable reads from the refusal of an API server which fields of an object cannot be changed, and why.
package immutable
