// SPDX-License-Identifier: Apache-2.0

// Package inspect reads from a cluster what an observation needs: the live objects of an inventory, the results of readiness rules,
// and how drifted objects differ from the applied ones. Results are cached until an object changes. Losing a cache only costs
// requests.
package inspect
