// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestPropagateToAll checks that a Manifest whose update is refused does not stop the others, and that the Kyma reports it.
func TestPropagateToAll(t *testing.T) {
	now := metav1.Now()
	paused := map[string]string{meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: "k"}
	refused := "module a: cannot change Manifest k-a: forbidden: quota"
	pause := func(k *v1alpha1.Kyma) { meta.AddAnnotations(k, paused) }
	goes := func(k *v1alpha1.Kyma) { k.DeletionTimestamp = &now }
	type want struct {
		applied []string
		called  bool
		// synced is the message of the condition Synced, if the status of the Kyma was written.
		synced string
		failed bool
		result ctrl.Result
	}
	cases := map[string]struct {
		reason string
		kyma   func(k *v1alpha1.Kyma)
		child  func(m *v1alpha1.Manifest)
		// fails contains the errors of the API server by Manifest.
		fails map[string]error
		want  want
	}{
		"Accepted": {
			reason: "All Manifests are paused.",
			kyma:   pause,
			want:   want{applied: []string{"k-a", "k-b"}, called: true},
		},
		"Paused": {
			reason: "All Manifests that can be paused are paused, and the Kyma names the other one.",
			kyma:   pause,
			fails:  map[string]error{"k-a": errors.New("forbidden: quota")},
			want:   want{applied: []string{"k-a", "k-b"}, synced: refused, failed: true},
		},
		"All": {
			reason: "The errors of all Manifests are reported, in a stable order.",
			kyma:   pause,
			fails:  map[string]error{"k-a": errors.New("forbidden: quota"), "k-b": errors.New("no")},
			want: want{
				applied: []string{"k-a", "k-b"}, synced: "[" + refused + ", module b: cannot change Manifest k-b: no]", failed: true,
			},
		},
		"Conflict": {
			reason: "A conflict does not mask the rejected changes.",
			kyma:   pause,
			fails:  map[string]error{"k-a": errors.New("forbidden: quota"), "k-b": kerrors.NewConflict(schema.GroupResource{}, "k-b", errors.New("boom"))},
			want:   want{applied: []string{"k-a", "k-b"}, synced: refused, failed: true},
		},
		"Delete": {
			reason: "The managed reconciler deletes the others, and reports what Delete returns.",
			kyma:   goes,
			child:  func(m *v1alpha1.Manifest) { m.Annotations = paused },
			fails:  map[string]error{"k-a": errors.New("forbidden: quota")},
			want:   want{applied: []string{"k-a", "k-b"}, called: true},
		},
		"DeleteLater": {
			reason: "While other finalizers hold the Kyma, the managed reconciler does not call Delete.",
			kyma:   func(k *v1alpha1.Kyma) { goes(k); k.Finalizers = []string{"a", "b"} },
			child:  func(m *v1alpha1.Manifest) { m.Annotations = paused },
			fails:  map[string]error{"k-a": errors.New("forbidden: quota")},
			want:   want{applied: []string{"k-a", "k-b"}, synced: refused, failed: true},
		},
		"Wait": {
			reason: "A Kyma that waits for its Manifests reports the refusal, too.",
			kyma:   goes,
			child:  func(m *v1alpha1.Manifest) { m.Annotations = paused; deleted(m) },
			fails:  map[string]error{"k-a": errors.New("forbidden: quota")},
			want:   want{applied: []string{"k-a", "k-b"}, synced: refused, failed: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, got := newKyma(), want{}
			tc.kyma(k)
			var items []v1alpha1.Manifest
			for _, module := range []string{"b", "a"} {
				m := installed(newKyma(), newTemplate(module, "regular", "1.0.0"))
				m.ResourceVersion = "7"
				if tc.child != nil {
					tc.child(m)
				}
				items = append(items, *m)
			}
			mock := (&propagation{kyma: k, child: &items[0]}).client(&outcome{}, &v1alpha1.Manifest{})
			mock.MockList = func(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
				l.(*v1alpha1.ManifestList).Items = items
				return nil
			}
			mock.MockApply = func(_ context.Context, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
				m := decodeManifest(o)
				got.applied = append(got.applied, m.Name)
				return tc.fails[m.Name]
			}
			mock.MockStatusUpdate = func(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
				got.synced = o.(*v1alpha1.Kyma).GetCondition(xpv2.TypeSynced).Message
				return nil
			}
			p := &propagator{
				connector: &connector{
					store: newStore(mock, mock), record: newRecorder(), policies: true,
				},
				managed: reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) {
					got.called = true
					return ctrl.Result{}, nil
				}),
			}
			var err error
			got.result, err = p.Reconcile(t.Context(), ctrl.Request{})
			got.failed = err != nil
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
