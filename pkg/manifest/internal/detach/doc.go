// SPDX-License-Identifier: Apache-2.0

// Package detach detaches the objects of an inventory from the engine: they stay in the cluster as they are, without the labels,
// annotations and fields of the engine. The inventory stays too, so that the bundle that it belongs to can manage the objects again.
// Decide determines what happens to one object, and is pure. Run repeats nothing, and an interrupted one can be repeated.
package detach
