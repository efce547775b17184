// SPDX-License-Identifier: Apache-2.0

// Package retract undoes what a call wrote after another process had changed or removed the inventory of the bundle. It takes the
// objects that the call wrote and the current inventory, and deletes the objects that no inventory lists.
package retract
