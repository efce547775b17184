// SPDX-License-Identifier: Apache-2.0

package object

// An Adoption says which existing objects and releases the engine takes over.
type Adoption int

const (
	// AdoptNone takes over nothing.
	AdoptNone Adoption = iota
	// AdoptUnowned takes over what belongs to no other ApplySet. The config of an install can ask for that: it comes with a
	// module, and what belongs to another module is not its to take.
	AdoptUnowned
	// AdoptAll takes over what belongs to other ApplySets, too.
	AdoptAll
)

// From reports whether an object of an owner is taken over. The owner is the ID of another ApplySet, or empty for none.
func (a Adoption) From(owner string) bool {
	return a == AdoptAll || a == AdoptUnowned && owner == ""
}
