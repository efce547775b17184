// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
)

// taken returns a conflict if other managers own fields with values that differ from those to apply.
func (o *fakeObject) taken(who string, fields *fieldpath.Set, wanted map[string]any) *metav1.Status {
	for other, theirs := range o.owners {
		for _, p := range fieldset.All(theirs.Intersection(fields)) {
			if other == who || at(o.content, p) == at(wanted, p) {
				continue
			}
			st := refusal(http.StatusConflict, metav1.StatusReasonConflict, "Apply failed with 1 conflict: conflict with %q: %s", other, p)
			st.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: p.String()}}}
			return st
		}
	}
	return nil
}

// set returns an edit that sets a field of an object.
func set(v any, fields ...string) func(u *unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(u.Object, v, fields...); err != nil {
			panic(err)
		}
	}
}

// scale sets the replicas of an object, as an autoscaler does.
func (s *fakeServer) scale(k cluster.ObjectRef, replicas int64, manager string) {
	s.editAs(manager+"/Update/scale", k, set(replicas, "spec", "replicas"))
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.objects[k].content["status"].(map[string]any)
	for _, f := range []string{"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"} {
		status[f] = replicas
	}
}

func (s *fakeServer) versionOf(k cluster.ObjectRef) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[k].u().GetResourceVersion()
}
