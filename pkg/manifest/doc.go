// SPDX-License-Identifier: Apache-2.0

// Package manifest installs, checks, repairs, upgrades and removes a bundle of Kubernetes objects in one cluster.
//
// A Bundle says what is wanted: Helm charts, plain objects, CRDs and a custom resource. The Engine renders it, applies it in stages
// by server-side apply, keeps an inventory of it in the cluster, prunes what a new version no longer has, and reports for each
// object whether it works. No call waits: Apply and Remove do the next step and return, and Observe tells what is left to do. The
// package knows no custom resource of this provider.
//
// Four things make it cheap and safe:
//
//   - An object that must not exist yet is applied with a resourceVersion that no object has. The API server creates it or answers
//     with a conflict, so a collision with an object of another owner costs no request and changes nothing.
//   - The API server records in managedFields which fields the engine owns. A hash of that entry changes if, and only if, another
//     client took or removed one of these fields. Drift is therefore seen in metadata, without any value.
//   - The inventory is an ApplySet (KEP-3659): a parent Secret, and a label on each member. It is saved before objects are created,
//     so that no crash can orphan one, and once more when everything is applied.
//   - What was applied is known by a digest of the inputs. While it is the same, nothing is pulled or rendered.
//
// # Inside
//
// This package is the public face. The work is done by the packages below internal, each of which takes values and returns values;
// CONTRIBUTING.md in the repository shows them. One call of Apply goes through them like this:
//
//   - The inventory says with which inputs each part of the bundle was applied, and which objects it has. Informers show the
//     objects. What differs from what was applied is drift.
//   - The parts whose inputs changed, or that drifted, are composed: fetched, rendered and placed.
//   - A plan says what is done with each object, and which parts wait: for an install before them, or because a CRD is refused.
//   - The plan is saved in the inventory, and executed stage by stage: namespaces and CRDs, hooks that run before, configuration,
//     workloads, webhooks, hooks that run after, and the custom resource when all installs are applied. What has to wait is left to
//     the next call.
//   - Parts whose objects are all applied are pruned, get the record of their Helm release, and are saved as applied. Then tests
//     run, if they were requested.
//
// A process may end at any request: the next call finds in the inventory and in the cluster what was done. TestCrash interrupts it
// at each write. The memory of an Engine may be lost, too: it saves requests, and counts how often fields are contended.
//
// Plan goes through the same plan with dry runs, and changes nothing.
//
// Objects that others changed are repaired, except for ceded fields: those that other controllers own by the way Kubernetes works,
// such as the replicas of an autoscaler, and those that the engine repaired again and again in vain.
//
// # Use
//
// Package connect has the connection, package source the content, and a Bundle says what to do with it:
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
// One Engine and one Cluster serve a whole process. The engine only reads a Bundle, so that one can serve several calls. A
// CallOption is for one call: a token that runs failed hooks or tests once more, or the last known good revision to keep.
//
// Package source has the sources: Path and FS (directories and archives), OCI, ChartRepository, YAML and Objects. Install.Form
// describes the content: a chart, plain objects or a kustomization.
//
// In a program, Wait makes Install return once the bundle is Ready, and Uninstall once it is gone. In a reconcile loop, leave Wait
// out: Install does the next step and returns what it sees. Call it again after a moment until the observation is UpToDate and
// Ready, and after that when something changed, which connect.WithOnChange reports. A call that has nothing to do sends no request.
// On deletion, call Uninstall until Removal.Gone, and remove your finalizer then.
//
// Transforms change each object between rendering and applying. Readiness rules say when objects of a kind work, by CEL or by a
// function. For more control than Install gives, Plan says what would be done, ApplyPlan does it if it still holds, Apply returns what
// it did, Observe looks without doing anything, and Remove is one step of Uninstall.
//
// Two bundles of one inventory namespace must not have the same Name: the second one is refused with an *OwnedError if their Owners
// differ. Give an operator an inventory namespace of its own with WithInventoryNamespace, so that its bundles cannot meet those of
// the provider or of another operator. An object belongs to one bundle; another bundle that wants it gets an error, unless it adopts
// the object.
//
// docs/library.md in the repository has a tutorial, and says what is promised about versions.
package manifest
