// SPDX-License-Identifier: Apache-2.0

// Package retract undoes the writes of a call after another process has changed or removed the inventory of the bundle. It
// takes the objects that the call wrote and the current inventory, and deletes the objects that no inventory lists.
package retract
