// SPDX-License-Identifier: Apache-2.0

// Package connect creates a cluster.Cluster, which the engine of package manifest requires, from a REST config.
//
// A Connection serves any number of bundles. Its clients share one HTTP/2 connection. It discovers kinds as they are
// used, and holds one watch for each kind in use. Watches select objects by the label manifest.LabelManagedBy with the
// value that the engine sets. If you create an engine with manifest.WithIdentity, create its connection with the same
// WithIdentity. For kinds without a status, the connection watches metadata only, and it stores no more than a
// cluster.ObjectState for each object. After a failure, it waits before it sends the next request. Until then, requests
// to an unavailable cluster cost nothing and fail with the same error.
//
// A program that installs a bundle and exits needs only New and Close. A controller also reacts to changes: WithOnChange
// calls a function for each change by another client, with the ID of the bundle that Engine.ID returns. The function
// should add the bundle to the queue of the controller, where Engine.Install repairs it.
//
// In addition to the permissions for the installed objects, the credentials need get, list and watch on all installed
// kinds in all namespaces, and all verbs on Secrets in the namespace of the inventories. If a kind cannot be listed, its
// objects are read one by one.
package connect
