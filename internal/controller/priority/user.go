// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
)

// IsEdit reports whether a change was certainly made by a user: the deletion of an object, or a change of an annotation that
// the managed reconciler does not write.
func IsEdit(was, is client.Object) bool {
	return meta.WasDeleted(was) != meta.WasDeleted(is) || !maps.Equal(annotations(was), annotations(is))
}

// FirstWrite passes the update that adds the finalizer and the external name to a managed resource and nothing else. The reconcile that
// writes it continues with its result.
func FirstWrite() predicate.Predicate {
	no := func(client.Object) bool { return false }
	p := predicate.NewPredicateFuncs(no)
	p.UpdateFunc = func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld, e.ObjectNew
		return !meta.FinalizerExists(was, managed.FinalizerName) && meta.FinalizerExists(is, managed.FinalizerName) &&
			meta.GetExternalName(was) == "" && meta.GetExternalName(is) != "" &&
			was.GetUID() == is.GetUID() && was.GetGeneration() == is.GetGeneration() &&
			maps.Equal(was.GetLabels(), is.GetLabels()) && !IsEdit(was, is)
	}
	return p
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
