// SPDX-License-Identifier: Apache-2.0

// Package metrics defines all metrics that the provider adds to those of its libraries. A new metric is a field of
// Metrics, an entry in New, and a row in docs/operations.md.
package metrics
