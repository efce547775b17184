// SPDX-License-Identifier: Apache-2.0

package object

// An Adoption determines which existing objects and releases the engine adopts.
type Adoption int

const (
	// AdoptNone adopts nothing.
	AdoptNone Adoption = iota
	// AdoptUnowned adopts objects and releases that do not belong to another ApplySet. The config of an install can request it. The
	// config is part of a module, so it must not adopt anything that belongs to another module.
	AdoptUnowned
	// AdoptAll also adopts objects and releases that belong to other ApplySets.
	AdoptAll
)

// From reports whether to adopt an object of the given owner, which is the ID of another ApplySet, or empty if there is none.
func (a Adoption) From(owner string) bool {
	return a == AdoptAll || a == AdoptUnowned && owner == ""
}
