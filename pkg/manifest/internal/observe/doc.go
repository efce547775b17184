// SPDX-License-Identifier: Apache-2.0

// Package observe determines the state of a bundle: whether what it wants is in the cluster as it was applied, and whether it works.
// Observe takes values (the parts, the inventory, the states of objects, what the last step said) and returns an Observation. The
// state of a part follows from its Phase, one of a closed list.
//
// The package sends nothing and renders nothing. Two answers need more than values: what a readiness rule says of an object
// (Evaluator), and how an object that drifted differs (Comparer). Input.Gather asks for them where they matter.
package observe
