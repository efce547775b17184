// SPDX-License-Identifier: Apache-2.0

package object

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// annotationUsedBy is the start of the annotations that name the bundles that use a CRD of another owner. Each bundle has its own one,
// with a field manager of its own. The value is the owner of the bundle.
const annotationUsedBy = "kyma.m.crossplane.io/used-by."

// AnnotationHandedOver marks a CRD whose bundle no longer contains it while other bundles use it. Its value is the ID of the ApplySet
// that owned it. The CRD has no owner until one of the others takes it over, which removes the annotation.
const AnnotationHandedOver = "kyma.m.crossplane.io/handed-over"

// UsedBy returns the annotation with which the ApplySet with an ID marks the CRDs that it uses.
func UsedBy(set string) string {
	return annotationUsedBy + HashOfSet(set)
}

// HashOfSet returns a short hash of the ID of an ApplySet, for names that cannot contain the ID.
func HashOfSet(set string) string {
	sum := sha256.Sum256([]byte(set))
	return hex.EncodeToString(sum[:8])
}

// UsersOf returns the owners of the bundles that use a CRD with these annotations, sorted, except for the given ApplySet.
func UsersOf(annotations map[string]string, except string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if hash, ok := strings.CutPrefix(name, annotationUsedBy); ok && name != UsedBy(except) {
			out = append(out, cmp.Or(annotations[name], hash))
		}
	}
	slices.Sort(out)
	return out
}

// IsHandedOver reports whether a CRD with these labels and annotations has no owner because its owner handed it over.
func IsHandedOver(labels, annotations map[string]string) bool {
	return labels[LabelPartOf] == "" && annotations[AnnotationHandedOver] != ""
}
