// SPDX-License-Identifier: Apache-2.0

// Package observe determines the state of a bundle: whether its objects are in the cluster as they were applied, and whether they
// are ready. Observe takes values (the parts, the inventory, the states of objects, and the reasons of the last step) and returns
// an Observation. The state of a part follows from its Phase, which is one of a fixed set.
//
// The package sends no requests and renders nothing. Two answers require more than values: the result of a readiness rule
// (Evaluator), and how a drifted object differs (Comparer). Call Input.Gather before Observe to obtain them for the objects that
// need them.
package observe
