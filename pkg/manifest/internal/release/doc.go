// SPDX-License-Identifier: Apache-2.0

// Package release keeps the history of Helm releases in a cluster, so that helm list and helm history show what the engine
// installs. Follow decides which revision comes next; it is a pure function of what the inventory and the cluster record. A
// History reads and writes the records, and is all of the package that sends requests.
package release
