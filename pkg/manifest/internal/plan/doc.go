// SPDX-License-Identifier: Apache-2.0

// Package plan decides what one call on a bundle does, before anything is sent: which components are applied, which fail or have to
// wait, and what is done with each object.
//
// Build makes a Plan of the parts of a bundle, its inventory, and what is known of its objects. It is pure: what needs a request or
// a source comes in as functions. The run and the dry run of a call execute the same Plan, which they do not change. Actions say what is
// done with each object: VerbOf decides it for those of components, and Prunes for those that the bundle no longer has, which the run asks
// again once a component is complete. Verdicts say why parts are not applied: Build begins them, and the run adds to a copy of them.
package plan
