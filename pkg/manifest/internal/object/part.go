// SPDX-License-Identifier: Apache-2.0

package object

// A PartID identifies a part of a bundle: an install, the CRDs of the bundle, or its custom resource. Clusters store its text.
// Call the methods instead of parsing the text.
type PartID string

// WholeBundle is the ID that represents the whole bundle instead of one of its parts.
const WholeBundle PartID = ""

// These are the IDs of the parts that are not installs. The name of an install cannot contain a colon.
const (
	PartCRDs     PartID = "crds:"
	PartResource PartID = "resource:"
)

// PartLost is the part of an object whose inventory was lost. No bundle has it: a part that contains the object takes it over, and
// the object is pruned otherwise.
const PartLost PartID = "lost:"

// A PartKind is the kind of a part.
type PartKind int

// These are the kinds of parts.
const (
	PartKindInstall PartKind = iota
	PartKindCRDs
	PartKindResource
)

// String returns the name of the kind for messages.
func (k PartKind) String() string {
	switch k {
	case PartKindCRDs:
		return "crds"
	case PartKindResource:
		return "resource"
	case PartKindInstall:
	}
	return "install"
}

// PartOf returns the ID of the part for an install.
func PartOf(install string) PartID { return PartID(install) }

// Kind returns the kind of the part.
func (p PartID) Kind() PartKind {
	switch p {
	case PartCRDs:
		return PartKindCRDs
	case PartResource:
		return PartKindResource
	case WholeBundle, PartLost:
	}
	return PartKindInstall
}

// Install returns the name of the install, or an empty string for other parts.
func (p PartID) Install() string {
	if p.Kind() != PartKindInstall {
		return ""
	}
	return string(p)
}

// String returns the name of the part for messages.
func (p PartID) String() string {
	if k := p.Kind(); k != PartKindInstall {
		return k.String()
	}
	return string(p)
}
