// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	engine "github.com/crossplane-contrib/provider-kyma/pkg/manifest"
)

// A removingEngine records which methods remove or detach a bundle.
type removingEngine struct {
	Engine

	calls    []string
	detached bool
	err      error
	labels   map[string]string
}

func (r *removingEngine) Exists(context.Context, cluster.Cluster, *engine.Bundle) (bool, error) {
	r.calls = append(r.calls, "Exists")
	return true, nil
}

func (r *removingEngine) Remove(context.Context, cluster.Cluster, *engine.Bundle, ...engine.CallOption) (engine.Removal, error) {
	r.calls = append(r.calls, "Remove")
	return engine.Removal{Gone: true}, nil
}

func (r *removingEngine) IsDetached(_ context.Context, _ cluster.Cluster, b *engine.Bundle) (bool, error) {
	r.calls, r.labels = append(r.calls, "IsDetached"), b.Labels
	return r.detached, r.err
}

func (r *removingEngine) Detach(context.Context, cluster.Cluster, *engine.Bundle) error {
	r.calls = append(r.calls, "Detach")
	return r.err
}

// TestDetach checks that a Manifest with the annotation detaches its objects, and removes none, and that its finalizer stays until all of
// them are detached.
func TestDetach(t *testing.T) {
	type want struct {
		calls  []string
		exists bool
		fails  bool
	}
	cases := map[string]struct {
		reason   string
		annotate bool
		engine   removingEngine
		want     want
	}{
		"Remove":      {"Without the annotation, the objects are removed.", false, removingEngine{}, want{[]string{"Exists", "Remove"}, true, false}},
		"Detach":      {"With the annotation, they are detached.", true, removingEngine{}, want{[]string{"IsDetached", "Detach"}, true, false}},
		"Done":        {"Once all are detached, nothing is left.", true, removingEngine{detached: true}, want{[]string{"IsDetached"}, false, false}},
		"Unconfirmed": {"An error is not an answer.", true, removingEngine{err: errors.New("oh dear")}, want{[]string{"IsDetached"}, false, true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mr := named("n", "m")
			mr.DeletionTimestamp, mr.Finalizers = new(metav1.Now()), []string{"finalizer"}
			mr.Labels = map[string]string{v1alpha1.LabelKymaName: "k"}
			if tc.annotate {
				mr.Annotations = map[string]string{v1alpha1.AnnotationDetach: "true"}
			}
			e := externalOf(&tc.engine, outlineOf(mr), &recorded{})
			o, err := e.Observe(t.Context(), mr)
			if err == nil && o.ResourceExists {
				_, err = e.Delete(t.Context(), mr)
			}
			got := want{tc.engine.calls, o.ResourceExists, err != nil}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if tc.annotate && tc.engine.labels[v1alpha1.LabelKymaName] == "" {
				t.Errorf("%s\nwant the labels of the objects, got %v", tc.reason, tc.engine.labels)
			}
		})
	}
}
