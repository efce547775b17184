// SPDX-License-Identifier: Apache-2.0

// Package manifest installs, checks, repairs, upgrades and removes a bundle of Kubernetes objects in one cluster.
//
// A Bundle describes what to install: Helm charts, plain objects, CRDs and a custom resource. The Engine renders it, applies it
// in stages with server-side apply, keeps an inventory of it in the cluster, prunes what a new version no longer contains, and
// reports for each object whether it is ready. Calls do not wait, unless you ask for it: Apply and Remove perform the next step
// and return, and Observe reports what is left to do. The package does not depend on the custom resources of this provider.
//
// Four ideas make it cheap and safe:
//
//   - An object that must not exist yet is applied with a resourceVersion that no object has. The API server either creates it or
//     answers with a conflict. A collision with an object of another owner therefore costs no extra request and changes nothing.
//   - The API server records in managedFields which fields the engine owns. The hash of that entry changes if, and only if,
//     another client takes or removes one of these fields. The metadata alone therefore shows drift, without any values.
//   - The inventory is an ApplySet (KEP-3659): a parent Secret, and a label on each member. It is saved before objects are
//     created, so that a crash cannot orphan one, and again when everything is applied.
//   - A digest of the inputs identifies what was applied. As long as it stays the same, nothing is pulled or rendered.
//
// # How it works
//
// This package is the public API. The packages below internal do the work; each takes values and returns values. CONTRIBUTING.md
// in the repository has an overview. One call of Apply passes through them in this order:
//
//   - The inventory records with which inputs each part of the bundle was applied, and which objects it has. Informers show the
//     objects. Any difference from what was applied is drift.
//   - Parts that drifted or whose inputs changed are composed: fetched, rendered and placed in their namespaces.
//   - A plan decides what to do with each object, and which parts have to wait, for example for an earlier install, or because
//     the change of a CRD is refused.
//   - The plan is saved in the inventory, and executed stage by stage: namespaces and CRDs, pre-install or pre-upgrade hooks,
//     configuration, workloads, webhooks, post-install or post-upgrade hooks, and the custom resource once all installs are
//     applied. The next call does the work that has to wait.
//   - Once all objects of a part are applied, objects that it no longer contains are pruned, its Helm release is recorded, and
//     the part is saved as applied. Then the tests run, if you requested them.
//
// A process may end at any request: the next call finds out from the inventory and the cluster what was done. TestCrash
// interrupts the engine at each write. The memory of an Engine may be lost as well: it saves requests, and counts how often
// fields are contended.
//
// Method Plan makes the same plan with dry runs, and changes nothing.
//
// Objects that other clients changed are repaired, except for ceded fields: fields that belong to other controllers by the design
// of Kubernetes, such as the replicas of an autoscaled workload, and fields that the engine repaired repeatedly without success.
//
// # Use
//
// Package connect provides the connection and package source the content; a Bundle describes what to do with it:
//
//	c, err := connect.New(restConfig)
//	chart, err := source.Path("charts/web")
//	engine := manifest.New(manifest.WithInventoryNamespace("my-operator"))
//	b := &manifest.Bundle{
//		Name:     "web." + name,
//		Owner:    "Site " + name,
//		Installs: []manifest.Install{{Layer: chart, Name: "web", Namespace: "web", Values: values}},
//	}
//	seen, err := engine.Install(ctx, c, b)
//
// One Engine and one Cluster serve a whole process. The engine only reads a Bundle, so several calls can share one. A CallOption
// applies to one call: for example, a token that runs failed hooks or tests again, or the last known good revision to keep.
//
// Package source provides the sources: Path and FS for directories and archives, OCI, ChartRepository, YAML and Objects.
// Install.Form is the format of the content: a chart, plain objects or a kustomization.
//
// In a program, pass Wait: Install then returns once the bundle is Ready, and Uninstall once it is gone. In a reconcile loop,
// leave Wait out: Install performs the next step and returns an observation. Call it again after a short time until the
// observation is UpToDate and Ready, and after that whenever something changes, which connect.WithOnChange reports. A call that
// has nothing to do sends no request. On deletion, call Uninstall until Removal.Gone is set, and then remove your finalizer.
//
// Transforms change each object between rendering and applying. Readiness rules decide when objects of a kind are ready, with a
// CEL expression or a function. If Install does not give you enough control, use its steps: Plan returns what would be done,
// ApplyPlan does it if the plan still holds, Apply returns what it did, Observe changes nothing, and Remove is one step of
// Uninstall.
//
// Two bundles in one inventory namespace must not have the same Name: if their Owners differ, the second one is refused with an
// *OwnedError. Give an operator its own inventory namespace with WithInventoryNamespace, so that its bundles cannot collide with
// bundles of the provider or of another operator. An object belongs to one bundle; another bundle that contains it gets an error,
// unless it adopts the object. A CRD of another bundle, or of none, is used as it is if it has what the bundle needs.
//
// docs/library.md in the repository has a tutorial, and explains what is promised about versions.
package manifest
