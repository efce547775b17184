// SPDX-License-Identifier: Apache-2.0

// Package plan decides what one call on a bundle does, before anything is sent: which components are applied, which fail or have to
// wait, and what is done with each object.
//
// A plan is made in steps, which are pure: what one returns is a value that no later one changes. Between them the caller asks what
// the next one has to know:
//
//	Select   which parts something has to be done for    then the caller composes them
//	Assign   which part has each object                  then it asks which of the Awaited installs are ready, and checks the CRDChanges
//	Build    the Plan
//
// The run and the dry run of a call execute the same Plan, which they do not change. Actions say what is done with each object: VerbOf
// decides it for those of components, and Prunes for those that the bundle no longer has, which the run asks again once a component is
// complete. Verdicts say why parts are not applied: the steps begin them, and the run adds to a copy of them.
package plan
