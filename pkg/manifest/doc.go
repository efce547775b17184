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
//
// # Inside
//
// The inventory says of each part of a set with which inputs it was applied, and of each object whether it is to stay.
// One call of Apply is a step, which begins where the inventory says that the last one ended:
//
//   - It looks at the objects in the watches, finds drift, renders the parts that have something to do, and holds back
//     those that must wait: for an install before them, or because a definition is refused.
//   - What it is about to do is written down in the inventory: entries of new objects, and that the old inputs count no
//     more. So it is before each hook is created or deleted, and before an object is deleted to be created anew.
//   - The objects are sent stage by stage: namespaces and definitions, first hooks, configuration, workloads, last hooks,
//     and the custom resource when all installs are there. What waits for something is left to the next step.
//   - Parts that are complete give up the objects that they no longer have, get the record of their release, and are
//     written down as applied. Then tests run, if they were asked for.
//
// A process may die at any write: the next step finds in the inventory and in the cluster what was done. TestCrash cuts
// it off at each of them. Memory of an Engine may be lost, too; what is in it saves requests, and counts fights.
//
// Objects that others changed are put back, except for fields that are theirs by the way Kubernetes works, and those for
// which the engine fought long enough. Both are yields of an entry, and are left out of what is applied.
//
// # Use
//
// A connection comes from package cluster, content from package source, and what to do with it stands in a Set:
//
//	c, err := cluster.New(restConfig)
//	chart, err := source.Path("charts/web")
//	engine := manifest.New(manifest.WithNamespace("my-operator"))
//	set := &manifest.Set{
//		Name:     "web." + name,
//		Owner:    "Site " + name,
//		Installs: []manifest.Install{{Layer: chart, Name: "web", Namespace: "web", Values: values}},
//	}
//	seen, err := engine.Install(ctx, c, set)
//
// One Engine and one Cluster serve a whole process. A Set is made anew for each call, and costs nothing.
//
// Package source has the sources: Path and FS (directories and archives), OCI, ChartRepository, YAML and Objects.
// Install.Form describes the content: a chart, plain objects or a kustomization.
//
// In a program, Wait makes Install return once the set is Ready, and Uninstall once it is gone. In a reconcile loop,
// leave Wait out: Install does the next step and returns what it sees. Call it again after a moment until the observation
// is UpToDate and Ready, and after that when something changed, which cluster.WithOnChange tells. A call that has nothing
// to do sends no request. On deletion call Uninstall until Removal.Gone, and take your finalizer away then.
//
// Transforms change each object between rendering and applying. Readiness rules say when objects of a kind work, by CEL
// or by a function. For more control than Install gives, Plan says what would be done, Apply returns what it did, Observe
// looks without doing anything, and Remove is one step of Uninstall.
//
// Names: two sets of one inventory namespace must not have the same Name; the second one is refused with an *OwnedError where
// their Owners differ. Give an operator an inventory namespace of its
// own with WithNamespace, so that its sets cannot meet those of the provider or of another operator. An object belongs to
// one set; another set that wants it gets an error, unless it adopts it.
//
// docs/library.md in the repository has a tutorial, and says what is promised about versions.
package manifest
