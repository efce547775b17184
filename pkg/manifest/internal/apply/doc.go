// SPDX-License-Identifier: Apache-2.0

// Package apply brings one object of a target cluster to its desired state, and returns the result as an Outcome.
//
// Applier.Apply is the main entry point. It creates an object that is not known to exist, with a request that fails if it does
// exist. It applies an object that exists without force, and without reading it, if the bundle is known to own it and nothing
// suggests that others changed it. Otherwise, and always for a custom resource or an object with ceded fields, it reads the
// object and continues in this order:
//
//   - If the object belongs to another owner and must not be adopted, it is refused.
//   - If the object is adopted, its fields are taken over from the managers that deployed it.
//   - If the object is a CRD that the plan did not know to exist, its custom resources must stay valid.
//   - Fields that are ceded to other managers are left out, and the rest is applied with force.
//
// A field that the API server does not let change leads to an error, or to the outcome Immutable if the object may be recreated.
//
// A run and a dry run make the same decisions. They differ in their verbs, which write or send dry runs.
package apply
