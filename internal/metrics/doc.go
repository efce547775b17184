// SPDX-License-Identifier: Apache-2.0

// Package metrics has every metric that the provider adds to those of its libraries, in one list. A new metric is a field of
// Metrics, an entry in New, and a row in docs/operations.md.
package metrics
