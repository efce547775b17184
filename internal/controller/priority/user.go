// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
)

// IsEdit reports whether a change was certainly made by a user: the deletion of an object, or a change of an annotation that
// the managed reconciler does not write.
func IsEdit(was, is client.Object) bool {
	return meta.WasDeleted(was) != meta.WasDeleted(is) || !maps.Equal(annotations(was), annotations(is))
}

// annotations returns the annotations of an object without those of the managed reconciler.
func annotations(o client.Object) map[string]string {
	out := maps.Clone(o.GetAnnotations())
	maps.DeleteFunc(out, func(k, _ string) bool {
		switch k {
		case meta.AnnotationKeyExternalName, meta.AnnotationKeyExternalCreatePending,
			meta.AnnotationKeyExternalCreateSucceeded, meta.AnnotationKeyExternalCreateFailed:
			return true
		}
		return false
	})
	return out
}
