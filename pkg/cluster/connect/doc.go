// SPDX-License-Identifier: Apache-2.0

// Package connect creates a cluster.Cluster, which the engine of package manifest works on, from a REST config.
//
// One Connection serves any number of bundles. Its clients share one HTTP/2 connection. It learns kinds as they are used, and
// holds one watch for each kind in use, filtered by the label manifest.LabelManagedBy with the value that the engine writes: an
// engine that has a manifest.WithIdentity needs a connection that has the same WithIdentity. For kinds without a status it
// watches metadata only, and it keeps no more than a cluster.ObjectState of each object. After a failure it pauses before it
// sends the next request, so that a cluster that is down costs nothing and fails with the same error each time.
//
// A program that installs something and ends needs New and Close only. A controller also reacts to changes: WithOnChange
// calls a function for each change that another client made, with the ID of the bundle, as Engine.ID returns it. The
// function should put the bundle into the queue of the controller, where Engine.Install repairs what differs.
//
// Besides the permissions for what is installed, the credentials need get, list and watch on all kinds that are installed, in
// all namespaces, and all verbs on Secrets in the namespace of the inventories. Where a kind cannot be listed, its objects
// are read one by one.
package connect
