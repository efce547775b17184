// SPDX-License-Identifier: Apache-2.0

// Package ownership decides by the managedFields of an object which of its fields the engine may set: what an adoption takes
// over (Adopt), what other managers took (Lost), which fields are ceded to them (CededOf), when the engine stops to repair a
// field that another manager sets again and again (Contention), and when it stops for a while to restore an object that others
// delete again and again (Restores). It sends nothing.
package ownership
