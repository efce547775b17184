// SPDX-License-Identifier: Apache-2.0

// Package probe asks a cluster what an observation has to know: which objects of an inventory exist, what readiness rules say
// of them, and how those that drifted differ from what was applied. Answers are cached as long as an object does not change;
// a cache may be lost at any time.
package probe
