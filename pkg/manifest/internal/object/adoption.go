// SPDX-License-Identifier: Apache-2.0

package object

// An Adoption says which existing objects and releases the engine adopts.
type Adoption int

const (
	// AdoptNone adopts nothing.
	AdoptNone Adoption = iota
	// AdoptUnowned adopts what does not belong to another ApplySet. The config of an install can request it. It comes with a
	// module, so it must not adopt what belongs to another module.
	AdoptUnowned
	// AdoptAll also adopts what belongs to other ApplySets.
	AdoptAll
)

// From reports whether an object of an owner is adopted. The owner is the ID of another ApplySet, or empty if there is none.
func (a Adoption) From(owner string) bool {
	return a == AdoptAll || a == AdoptUnowned && owner == ""
}
