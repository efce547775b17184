// SPDX-License-Identifier: Apache-2.0

// Package cluster connects the engine of package manifest to a Kubernetes cluster.
//
// One Cluster serves any number of sets. Its clients share one HTTP/2 connection, it learns kinds as they are used, and it
// holds one watch for each kind that is in use, filtered by the label manifest.LabelManagedBy: of objects without a
// status only the metadata, and of all of them only a summary. A server that does not answer is left alone for a moment,
// so that a cluster that is down costs nothing and fails with the same error each time.
//
// A program that installs something and ends needs no more than New and Close. A controller wants to hear of changes too:
// WithOnChange tells of each one that somebody else made, with the ID of the set, which Engine.ID gives for a set that
// the controller knows. The function should put the set into the queue, where Engine.Install repairs what differs.
//
// The credentials need, beside the rights to what is installed: get, list and watch of all kinds that are installed, in
// all namespaces, and all verbs for Secrets in the namespace of the inventories. Where a kind may not be listed, its
// objects are read one by one.
package connect
