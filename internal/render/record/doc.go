// SPDX-License-Identifier: Apache-2.0

// Package record writes and reads the records by which Helm 3 knows a release:
// Secrets that hold the chart, its values, what was rendered, and the hooks.
package record
