// SPDX-License-Identifier: Apache-2.0

package priority

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// IsEdit reports whether a change was certainly made by a user: the deletion of an object, or a change of an annotation that
// the managed reconciler does not write.
func IsEdit(was, is client.Object) bool {
	return meta.WasDeleted(was) != meta.WasDeleted(is) || !maps.Equal(annotations(was), annotations(is))
}

// Conditioned is a resource with conditions.
type Conditioned interface {
	client.Object

	GetCondition(ct xpv2.ConditionType) xpv2.Condition
}

// AtStart returns the priority of a resource that exists when the provider starts: User if it was changed or deleted since it was reconciled,
// Install if it was never reconciled, and Resync otherwise.
func AtStart(o Conditioned) int {
	switch synced := o.GetCondition(xpv2.TypeSynced); {
	case meta.WasDeleted(o):
		return User
	case synced.Status == corev1.ConditionUnknown:
		return Install
	case synced.ObservedGeneration < o.GetGeneration():
		return User
	}
	return Resync
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
