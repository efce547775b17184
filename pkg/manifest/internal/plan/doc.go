// SPDX-License-Identifier: Apache-2.0

// Package plan decides what a call on a bundle does before any object is written: which components are applied, which fail or must
// wait, and what to do with each object.
//
// You build a plan in pure steps. Each step returns a value that later steps do not change. Between the steps, the caller obtains
// what the next one needs:
//
//	Select   the parts to process            then compose them
//	Assign   the part that owns each object  then check the CRDChanges, and which of the Awaited installs are ready
//	Build    the Plan
//
// The run and the dry run of a call execute the same Plan and do not change it. Its Actions say what to do with each object: VerbOf
// decides for the objects of components, and Prunes for the objects that the bundle no longer contains. The run calls Prunes again once
// a component is complete. Its Verdicts say why parts are not applied: the steps create them, and the run adds to a copy.
package plan
