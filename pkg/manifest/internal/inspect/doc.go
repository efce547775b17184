// SPDX-License-Identifier: Apache-2.0

// Package inspect collects the cluster state that an observation requires: the live objects of an inventory, the results of
// readiness rules, and the differences between drifted objects and their applied state. It caches results until an object
// changes. If a cache is lost, the only cost is additional requests.
package inspect
