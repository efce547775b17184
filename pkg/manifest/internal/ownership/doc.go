// SPDX-License-Identifier: Apache-2.0

// Package ownership decides from the managedFields of an object which of its fields the engine may set. It answers these questions:
// which fields does an adoption take over (Adopt), which fields did other managers change (Lost), which are ceded to them
// (CededOf), when does the engine stop repairing a field that another manager sets repeatedly (Repairs), and when does it pause
// restoring an object that is deleted repeatedly (Restores). It sends no requests.
package ownership
