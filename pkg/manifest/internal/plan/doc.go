// SPDX-License-Identifier: Apache-2.0

// Package plan determines what a call on a bundle does before any object is written: which components are applied, which parts
// fail or must wait, and what to do with each object.
//
// Build a plan in pure steps. Each step returns a value that later steps do not change. Between the steps, the caller obtains the
// input of the next one:
//
//	Select   the parts to process            then compose them
//	Assign   the part that owns each object  then check the CRDChanges, and which of the Awaited installs are ready
//	Build    the Plan
//
// The run and the dry run of a call execute the same Plan and do not change it. Its Actions determine what to do with each
// object: VerbOf returns the verbs for the objects of components, and Prunes those for the objects that the bundle no longer
// contains. The run calls Prunes again once a component is complete. Its Decisions explain why parts are not applied: the steps
// create them, and the run adds more to a copy.
package plan
