// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestHandOn(t *testing.T) {
	now := metav1.Now()
	pause := map[string]string{meta.AnnotationKeyReconciliationPaused: "true"}
	observe := xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	all := xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	type want struct {
		annotations map[string]string
		policies    xpv2.ManagementPolicies
		writes      int
		called      bool
	}
	cases := map[string]struct {
		reason string
		kyma   func(k *v1alpha1.Kyma)
		child  func(m *v1alpha1.Manifest)
		fails  error
		want   want
	}{
		"Nothing": {
			reason: "Most of the time there is nothing to hand on.",
			want:   want{policies: all, called: true},
		},
		"Paused": {
			reason: "The Manifests of a Kyma that is paused are paused.",
			kyma:   func(k *v1alpha1.Kyma) { k.Annotations = pause },
			want: want{policies: all, called: true, writes: 1, annotations: map[string]string{
				meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: "k",
			}},
		},
		"PausedAlready": {
			reason: "One that a user paused stays as it is.",
			kyma:   func(k *v1alpha1.Kyma) { k.Annotations = pause },
			child:  func(m *v1alpha1.Manifest) { m.Annotations = pause },
			want:   want{policies: all, called: true, annotations: pause},
		},
		"NoPolicies": {
			reason: "No policies at all mean the same.",
			kyma:   func(k *v1alpha1.Kyma) { k.Spec.ManagementPolicies = xpv2.ManagementPolicies{} },
			want: want{policies: all, called: true, writes: 1, annotations: map[string]string{
				meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: "k",
			}},
		},
		"Orphan": {
			reason: "What stays when the Kyma goes must be known to the Manifests before it is gone.",
			kyma:   func(k *v1alpha1.Kyma) { k.DeletionTimestamp, k.Spec.ManagementPolicies = &now, observe },
			want:   want{policies: observe, called: true, writes: 1},
		},
		"OrphanLater": {
			reason: "Until it goes, the usual way is enough.",
			kyma:   func(k *v1alpha1.Kyma) { k.Spec.ManagementPolicies = observe },
			want:   want{policies: all, called: true},
		},
		"Fails": {
			reason: "The Kyma is not let go before.",
			kyma:   func(k *v1alpha1.Kyma) { k.DeletionTimestamp, k.Spec.ManagementPolicies = &now, observe },
			fails:  errors.New("boom"),
			want:   want{policies: observe, writes: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, got := newKyma(), want{}
			if tc.kyma != nil {
				tc.kyma(k)
			}
			child := installed(newKyma(), newTemplate("a", "regular", "1.0.0"))
			if tc.child != nil {
				tc.child(child)
			}
			seen := child.DeepCopy()
			c := &test.MockClient{
				MockGet: func(_ context.Context, _ client.ObjectKey, o client.Object) error {
					k.DeepCopyInto(o.(*v1alpha1.Kyma))
					return nil
				},
				MockList: func(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
					l.(*v1alpha1.ManifestList).Items = []v1alpha1.Manifest{*child}
					return nil
				},
				MockPatch: func(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
					o.(*v1alpha1.Manifest).DeepCopyInto(seen)
					got.writes++
					return tc.fails
				},
			}
			h := &handOn{client: c, family: &family{cache: c}, policies: true, Reconciler: reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) {
				got.called = true
				return ctrl.Result{}, nil
			})}
			_, err := h.Reconcile(t.Context(), ctrl.Request{})
			if (err != nil) != (tc.fails != nil) {
				t.Errorf("\n%s\nReconcile(...): %v", tc.reason, err)
			}
			got.annotations, got.policies = seen.Annotations, seen.Spec.ManagementPolicies
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnpause(t *testing.T) {
	k, tpl := newKyma(v1alpha1.Module{Name: "a"}), newTemplate("a", "regular", "1.0.0")
	live := installed(k, tpl, func(m *v1alpha1.Manifest) {
		m.Annotations = map[string]string{meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: "k"}
	})
	steps := newPlanner(k, []v1alpha1.ModuleTemplate{tpl}, live).plan()
	if steps[0].action != correct || len(steps[0].wanted.Annotations) != 0 {
		t.Errorf("plan(): a Manifest that the Kyma paused must go on with it: %v", steps[0].wanted)
	}
	delete(live.Annotations, v1alpha1.AnnotationPausedBy)
	if steps := newPlanner(k, []v1alpha1.ModuleTemplate{tpl}, live).plan(); steps[0].action != leave {
		t.Errorf("plan(): a Manifest that a user paused stays so")
	}
}
