// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// An Origin identifies the owner of an inventory beyond its name. It is stored in annotations of the parent, in addition to the
// name. Both fields can be empty, as in inventories of older versions.
type Origin struct {
	// UID is the UID of the owner.
	UID string
	// ControlPlane contains UIDs that identify the control plane of the owner. Two origins with a common UID belong to the same
	// control plane.
	ControlPlane []string
}

// originOf returns the origin in the annotations of a parent.
func originOf(annotations map[string]string) Origin {
	return Origin{UID: annotations[object.AnnotationOwnerUID], ControlPlane: split(annotations[object.AnnotationControlPlane])}
}

// annotate adds the origin to the annotations of a parent.
func (o Origin) annotate(annotations map[string]string) {
	if o.UID != "" {
		annotations[object.AnnotationOwnerUID] = o.UID
	}
	if len(o.ControlPlane) > 0 {
		annotations[object.AnnotationControlPlane] = strings.Join(o.ControlPlane, ",")
	}
}

// or returns the origin, with empty fields set from another origin.
func (o Origin) or(other Origin) Origin {
	if o.UID == "" {
		o.UID = other.UID
	}
	if len(o.ControlPlane) == 0 {
		o.ControlPlane = other.ControlPlane
	}
	return o
}

// differs reports whether an origin is known to belong to another control plane.
func (o Origin) differs(other Origin) bool {
	return len(o.ControlPlane) > 0 && len(other.ControlPlane) > 0 && !overlap(o.ControlPlane, other.ControlPlane)
}

// first returns one UID of the control plane, or an empty string.
func (o Origin) first() string {
	if len(o.ControlPlane) == 0 {
		return ""
	}
	return o.ControlPlane[0]
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

func split(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}
