// SPDX-License-Identifier: Apache-2.0

// Package inspect reads from a cluster what an observation needs: which objects of an inventory exist, what readiness rules say
// of them, and how those that drifted differ from what was applied. Answers are cached as long as an object does not change;
// a cache may be lost at any time.
package inspect
