// SPDX-License-Identifier: Apache-2.0

// Package ownership determines from the managedFields of an object which of its fields the engine may set: which fields an
// adoption takes over (Adopt), which fields other managers changed (Lost), and which fields to cede to them (CededOf). It also
// determines when the engine stops repairing a field that another manager sets repeatedly (Repairs), and when it pauses restoring
// an object that is deleted repeatedly (Restores). It sends no requests.
package ownership
