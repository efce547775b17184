// SPDX-License-Identifier: Apache-2.0

// Package history finds out, from consecutive states of a Manifest, when its module was installed, upgraded, rolled back or removed,
// and records each of these changes in the log and in a metric.
package history
