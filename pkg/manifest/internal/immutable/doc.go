// SPDX-License-Identifier: Apache-2.0

// Package immutable determines from an Invalid error of an API server which fields of an object are immutable, and why.
package immutable
