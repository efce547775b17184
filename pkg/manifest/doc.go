// SPDX-License-Identifier: Apache-2.0

// Package manifest installs, checks, repairs, upgrades and removes a set of Kubernetes objects in one cluster.
//
// A Set says what is wanted: Helm charts, plain objects, custom resource definitions and a custom resource. The Engine
// renders it, applies it in stages by server-side apply, keeps an inventory of it in the cluster, prunes what a new
// version no longer has, and tells from each object whether it works. Nothing waits: Apply and Remove do the next step
// and return, and Observe tells what is left to do. The package knows no custom resource of this provider.
//
// Four things make it cheap and safe:
//
//   - An object that must not exist yet is applied with a resourceVersion that no object has. The API server creates it
//     or answers with a conflict, so a collision with a foreign object costs no request and changes nothing.
//   - The API server records in managedFields which fields are ours. A hash of our entry changes if, and only if,
//     somebody else took or removed one of our fields. Drift is therefore seen in metadata, without any value.
//   - The inventory is an ApplySet (KEP-3659): a parent Secret, and a label on each member. It is written before the
//     objects are, so that no crash can orphan one, and once more when everything is applied.
//   - What was applied is known by a digest of the inputs. While it is the same, nothing is pulled or rendered.
package manifest
