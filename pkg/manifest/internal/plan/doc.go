// SPDX-License-Identifier: Apache-2.0

// Package plan decides what one call on a bundle does, before anything is sent: which components are applied, which fail or have to
// wait, what is done with each object, and which objects nobody wants any more.
//
// Build makes a Plan of the parts of a bundle, its inventory, and what is known of its objects. It is pure: what needs a request or
// a source comes in as functions. The run and the dry run of a call execute the same Plan. Decisions that depend on what became of
// objects before, such as what to prune, are functions of the Plan, too, and are called when these objects were applied.
package plan
