// SPDX-License-Identifier: Apache-2.0

// Package fieldset is about fields of objects: how they are named by managedFields and for people, what is at them, what
// is left of an object without some of them, and at which ones two objects differ. It knows no cluster.
package fieldset
