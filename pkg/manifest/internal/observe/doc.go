// SPDX-License-Identifier: Apache-2.0

// Package observe determines the state of a bundle: whether the objects in the cluster match their applied state, and whether
// they are ready. Observe takes values (the parts, the inventory, the states of objects, and the reasons of the last step) and
// returns an Observation. The state of a part follows from its Phase, which is one of a fixed set.
//
// The package sends no requests and renders nothing. Two results require that the caller does so: the result of a readiness rule
// (Evaluator), and the differences of a drifted object (Comparer). Call Input.Gather before Observe to obtain them for the
// objects that need them.
package observe
