// SPDX-License-Identifier: Apache-2.0

// Package ownership decides by the managedFields of an object which of its fields the engine may set: what an adoption takes
// over (Adopt), what other managers took (Lost), which fields are ceded to them (CededOf), and when the engine stops to
// repair a field that another manager sets again and again (Contention). It sends nothing.
package ownership
