// SPDX-License-Identifier: Apache-2.0

// Package fieldset works with the fields of objects: it converts paths between managedFields and human-readable text, reads the
// values at paths, removes fields from objects, and finds the fields at which two objects differ. It does not access a cluster.
package fieldset
