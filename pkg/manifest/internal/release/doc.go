// SPDX-License-Identifier: Apache-2.0

// Package release stores the history of Helm releases in a cluster, so that helm list and helm history show what the engine
// installs. Follow determines the next revision as a pure function of the records in the inventory and the cluster. A History
// reads and writes the records; only its methods send requests.
package release
