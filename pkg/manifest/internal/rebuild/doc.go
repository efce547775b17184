// SPDX-License-Identifier: Apache-2.0

// Package rebuild finds the objects of a bundle whose inventory was lost, by the label of its ApplySet. It makes an inventory of
// them, from which the bundle can be removed or applied. It changes nothing in the cluster.
package rebuild
