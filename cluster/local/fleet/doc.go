// SPDX-License-Identifier: Apache-2.0

// Package fleet contains the fleet of the demo: five clusters in which a new version of a module changes a canary first. It connects
// the clusters to the control plane, and observes the module in them and its rollout. kymaset.yaml and release.yaml contain the other
// objects of the fleet, which the demo applies as a user does.
//
// To be small, the clusters have an API server and etcd only, without controllers and nodes.
package fleet
