// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// An outcome is the result for a Kyma and its only Manifest.
type outcome struct {
	annotations map[string]string
	policies    xpv2.ManagementPolicies
	// mode is the mode of the Manifest, if it is not Apply.
	mode   v1alpha1.Mode
	writes int
	// called is true if the managed reconciler was called. finalized is true if it could remove the finalizer.
	called, finalized bool
	reasons           []event.Reason
	result            ctrl.Result
	// ready is the message of the Kyma, if its status was written.
	ready string
}

// A propagation is a Kyma that propagates to its only Manifest.
type propagation struct {
	kyma  *v1alpha1.Kyma
	child *v1alpha1.Manifest
	// listed contains additional Manifests in the API server.
	listed []metav1.PartialObjectMetadata
	// fails is the error of each apply. status is the error of status updates.
	fails, status error
}

func (c *propagation) client(got *outcome, seen *v1alpha1.Manifest) *test.MockClient {
	return &test.MockClient{
		MockGet: func(_ context.Context, _ client.ObjectKey, o client.Object) error {
			c.kyma.DeepCopyInto(o.(*v1alpha1.Kyma))
			return nil
		},
		MockList: func(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
			switch l := l.(type) {
			case *v1alpha1.ManifestList:
				l.Items = []v1alpha1.Manifest{*c.child}
			case *metav1.PartialObjectMetadataList:
				l.Items = append(l.Items, metav1.PartialObjectMetadata{ObjectMeta: c.child.ObjectMeta})
				l.Items = append(l.Items, c.listed...)
			}
			return nil
		},
		MockApply: func(_ context.Context, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			got.writes++
			m := decodeManifest(o)
			if m.ResourceVersion != c.child.ResourceVersion || m.UID != c.child.UID {
				return errors.New("the Manifest is not the one that was read")
			}
			_, gone := surplus(seen, m)
			meta.RemoveAnnotations(seen, gone...)
			meta.AddAnnotations(seen, m.Annotations)
			seen.Spec.ManagementPolicies, seen.Spec.ForProvider.Mode = m.Spec.ManagementPolicies, m.Spec.ForProvider.Mode
			return c.fails
		},
		MockStatusUpdate: func(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
			got.ready = o.(*v1alpha1.Kyma).GetCondition(xpv2.TypeReady).Message
			return c.status
		},
	}
}

// reconcile reconciles the Kyma with a managed reconciler that removes the finalizer of a Kyma that orphans its Manifests.
func (c *propagation) reconcile(ctx context.Context) (outcome, error) {
	c.child.ResourceVersion = "7"
	got, seen, r := outcome{}, c.child.DeepCopy(), newRecorder()
	mock := c.client(&got, seen)
	p := &propagator{
		connector: &connector{
			store: newStore(mock, mock), record: r, policies: true,
		},
		Finalizer: resource.FinalizerFns{RemoveFinalizerFn: func(context.Context, resource.Object) error {
			got.finalized = true
			return nil
		}},
		poll: time.Hour,
	}
	p.managed = reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
		got.called = true
		if policy := p.connector.policyOf(c.kyma); meta.WasDeleted(c.kyma) && !policy.ShouldDelete() {
			return errors.SilentlyRequeueOnConflict(ctrl.Result{}, p.RemoveFinalizer(ctx, c.kyma))
		}
		return ctrl.Result{}, nil
	})
	var err error
	got.result, err = p.Reconcile(ctx, ctrl.Request{})
	got.annotations, got.policies, got.reasons = seen.Annotations, seen.Spec.ManagementPolicies, *r.reasons
	if seen.Spec.ForProvider.Mode == v1alpha1.ModePlan {
		got.mode = v1alpha1.ModePlan
	}
	if len(got.annotations) == 0 {
		got.annotations = nil
	}
	if len(got.reasons) == 0 {
		got.reasons = nil
	}
	return got, err
}

func TestPropagate(t *testing.T) {
	now := metav1.Now()
	pause := map[string]string{meta.AnnotationKeyReconciliationPaused: "true"}
	paused := map[string]string{meta.AnnotationKeyReconciliationPaused: "true", v1alpha1.AnnotationPausedBy: "k"}
	abandon := map[string]string{v1alpha1.AnnotationAbandon: "true"}
	planned := func(m *v1alpha1.Manifest) { m.Spec.ForProvider.Mode = v1alpha1.ModePlan }
	force := map[string]string{v1alpha1.AnnotationForceRemoval: "true"}
	observe := xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	keep := xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	all := xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	boom := errors.New("boom")
	goes := func(k *v1alpha1.Kyma) { k.DeletionTimestamp = &now }
	cases := map[string]struct {
		reason string
		kyma   func(k *v1alpha1.Kyma)
		child  func(m *v1alpha1.Manifest)
		listed []metav1.PartialObjectMetadata
		fails  error
		status error
		want   outcome
	}{
		"Nothing": {
			reason: "Most of the time, there is nothing to propagate.",
			want:   outcome{policies: all, called: true},
		},
		"Paused": {
			reason: "The Manifests of a Kyma that is paused are paused.",
			kyma:   func(k *v1alpha1.Kyma) { k.Annotations = pause },
			want:   outcome{policies: all, called: true, writes: 1, annotations: paused},
		},
		"PausedAlready": {
			reason: "A Manifest that a user paused stays as it is.",
			kyma:   func(k *v1alpha1.Kyma) { k.Annotations = pause },
			child:  func(m *v1alpha1.Manifest) { m.Annotations = pause },
			want:   outcome{policies: all, called: true, annotations: pause},
		},
		"PausedAgain": {
			reason: "A Manifest that a user resumed is paused again.",
			kyma:   func(k *v1alpha1.Kyma) { k.Annotations = pause },
			child: func(m *v1alpha1.Manifest) {
				m.Annotations = map[string]string{meta.AnnotationKeyReconciliationPaused: "false", v1alpha1.AnnotationPausedBy: "k"}
			},
			want: outcome{policies: all, called: true, writes: 1, annotations: paused},
		},
		"NoPolicies": {
			reason: "An empty list of policies has the same effect.",
			kyma:   func(k *v1alpha1.Kyma) { k.Spec.ManagementPolicies = xpv2.ManagementPolicies{} },
			want:   outcome{policies: all, called: true, writes: 1, annotations: paused},
		},
		"Unpaused": {
			reason: "Update ends the pause of a Manifest.",
			child:  func(m *v1alpha1.Manifest) { m.Annotations = paused },
			want:   outcome{policies: all, called: true, annotations: paused},
		},
		"UnpausedWithoutUpdate": {
			reason: "If Update is not called, the propagator makes the change.",
			kyma:   func(k *v1alpha1.Kyma) { k.Spec.ManagementPolicies = observe },
			child:  func(m *v1alpha1.Manifest) { m.Annotations = paused },
			want:   outcome{policies: observe, called: true, writes: 1},
		},
		"UnpausedWhileGoing": {
			reason: "A paused Manifest would never be deleted.",
			kyma:   goes,
			child:  func(m *v1alpha1.Manifest) { m.Annotations = paused; deleted(m) },
			want:   outcome{policies: all, writes: 1, ready: "a: is being removed", result: ctrl.Result{RequeueAfter: time.Hour}},
		},
		"UnmanagedWhileGoing": {
			reason: "The garbage collector can delete a Manifest before its objects are detached.",
			kyma:   func(k *v1alpha1.Kyma) { goes(k); k.Spec.ForProvider.Modules = []v1alpha1.Module{withoutManagement()} },
			child:  deleted,
			want: outcome{
				policies: all, writes: 1, annotations: map[string]string{v1alpha1.AnnotationDetach: "true"}, ready: "a: the module is being removed",
				result: ctrl.Result{RequeueAfter: time.Hour},
			},
		},
		"PausedByUser": {
			reason: "A Manifest that a user paused stays paused.",
			child:  func(m *v1alpha1.Manifest) { m.Annotations = pause },
			want:   outcome{policies: all, called: true, annotations: pause},
		},
		"Orphan": {
			reason: "The Manifests must have the policies before the Kyma is gone.",
			kyma:   func(k *v1alpha1.Kyma) { k.DeletionTimestamp, k.Spec.ManagementPolicies = &now, keep },
			want:   outcome{policies: keep, called: true, writes: 1, finalized: true},
		},
		"OrphanUnseen": {
			reason: "A Manifest that the cache does not have yet must have the policies, too.",
			kyma:   func(k *v1alpha1.Kyma) { k.DeletionTimestamp, k.Spec.ManagementPolicies = &now, keep },
			listed: []metav1.PartialObjectMetadata{{ObjectMeta: installed(newKyma(), newTemplate("b", "regular", "1.0.0")).ObjectMeta}},
			want:   outcome{policies: keep, called: true, writes: 1, result: ctrl.Result{Requeue: true}},
		},
		"OrphanLater": {
			reason: "Before the Kyma is deleted, Update is sufficient.",
			kyma:   func(k *v1alpha1.Kyma) { k.Spec.ManagementPolicies = keep },
			want:   outcome{policies: all, called: true},
		},
		"RemoveAfterAll": {
			reason: "A Kyma that may remove objects again removes those of Manifests with the policies before.",
			kyma:   goes,
			child:  func(m *v1alpha1.Manifest) { m.Spec.ManagementPolicies = keep },
			want:   outcome{policies: all, called: true, writes: 1},
		},
		"DetachingWhileGoing": {
			reason: "Without the policy Delete, the labels would stay.",
			kyma:   func(k *v1alpha1.Kyma) { k.DeletionTimestamp, k.Spec.ManagementPolicies = &now, keep },
			child:  func(m *v1alpha1.Manifest) { detaching(m); deleted(m) },
			want:   outcome{policies: all, called: true, annotations: map[string]string{v1alpha1.AnnotationDetach: "true"}, finalized: true},
		},
		"NoUpdate": {
			reason: "Update is not called if the policies of the Kyma exclude it.",
			kyma:   func(k *v1alpha1.Kyma) { k.Spec.ManagementPolicies = observe },
			want:   outcome{policies: observe, called: true, writes: 1},
		},
		"Unsupported": {
			reason: "Unsupported policies are not propagated; the managed reconciler reports them.",
			kyma: func(k *v1alpha1.Kyma) {
				k.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionDelete}
			},
			want: outcome{policies: all, called: true},
		},
		"Fails": {
			reason: "The finalizer stays until the Manifests have the policies.",
			kyma:   func(k *v1alpha1.Kyma) { k.DeletionTimestamp, k.Spec.ManagementPolicies = &now, keep },
			fails:  boom,
			want:   outcome{policies: keep, called: true, writes: 1},
		},
		"Abandon": {
			reason: "Abandon is propagated, whatever finalizers there are, and causes an event.",
			kyma:   func(k *v1alpha1.Kyma) { goes(k); k.Annotations = abandon },
			child:  deleted,
			want: outcome{
				policies: all, writes: 1, annotations: abandon, reasons: []event.Reason{reasonAbandoned},
				ready: "a: is being removed", result: ctrl.Result{RequeueAfter: time.Hour},
			},
		},
		"Abandoned": {
			reason: "The event is recorded once.",
			kyma:   func(k *v1alpha1.Kyma) { goes(k); k.Annotations = abandon },
			child:  func(m *v1alpha1.Manifest) { m.Annotations = abandon; deleted(m) },
			want:   outcome{policies: all, annotations: abandon, ready: "a: is being removed", result: ctrl.Result{RequeueAfter: time.Hour}},
		},
		"AbandonTooEarly": {
			reason: "Abandon has no effect before the Kyma is deleted.",
			kyma:   func(k *v1alpha1.Kyma) { k.Annotations = abandon },
			want:   outcome{policies: all, called: true},
		},
		"Plan": {
			reason: "Update propagates mode Plan to the Manifests.",
			kyma:   func(k *v1alpha1.Kyma) { k.Spec.ForProvider.Mode = v1alpha1.ModePlan },
			want:   outcome{policies: all, called: true},
		},
		"PlanWithoutUpdate": {
			reason: "If Update is not called, the propagator makes the change.",
			kyma: func(k *v1alpha1.Kyma) {
				k.Spec.ForProvider.Mode, k.Spec.ManagementPolicies = v1alpha1.ModePlan, observe
			},
			want: outcome{policies: observe, called: true, writes: 1, mode: v1alpha1.ModePlan},
		},
		"PlannedAlready": {
			reason: "Without changes, nothing is written.",
			kyma: func(k *v1alpha1.Kyma) {
				k.Spec.ForProvider.Mode, k.Spec.ManagementPolicies = v1alpha1.ModePlan, observe
			},
			child: func(m *v1alpha1.Manifest) { planned(m); m.Spec.ManagementPolicies = observe },
			want:  outcome{policies: observe, called: true, mode: v1alpha1.ModePlan},
		},
		"Executed": {
			reason: "The propagator does not end mode Plan, because the Manifest must leave it together with its current content.",
			kyma:   func(k *v1alpha1.Kyma) { k.Spec.ManagementPolicies = observe },
			child:  func(m *v1alpha1.Manifest) { planned(m); m.Spec.ManagementPolicies = observe },
			want:   outcome{policies: observe, called: true, mode: v1alpha1.ModePlan},
		},
		"PausedConflict": {
			reason: "After a conflict, for example with a pause by a user, the Kyma is reconciled again.",
			kyma:   func(k *v1alpha1.Kyma) { k.Annotations = pause },
			fails:  kerrors.NewConflict(schema.GroupResource{}, "k-a", boom),
			want:   outcome{policies: all, writes: 1, annotations: paused, result: ctrl.Result{RequeueAfter: conflictRetry}},
		},
		"ForceRemoval": {
			reason: "Force-removal is propagated to Manifests that are being deleted.",
			kyma:   func(k *v1alpha1.Kyma) { goes(k); k.Annotations = force },
			child:  deleted,
			want: outcome{
				policies: all, writes: 1, annotations: force, ready: "a: is being removed", result: ctrl.Result{RequeueAfter: time.Hour},
			},
		},
		"ForceRemovalTooEarly": {
			reason: "Force-removal has no effect before the Kyma is deleted.",
			kyma:   func(k *v1alpha1.Kyma) { k.Annotations = force },
			want:   outcome{policies: all, called: true},
		},
		"Delete": {
			reason: "A Manifest that is not being deleted yet must be deleted.",
			kyma:   goes,
			want:   outcome{policies: all, called: true},
		},
		"Wait": {
			reason: "The Kyma waits for Manifests that are being deleted, and reports their message.",
			kyma:   goes,
			child:  func(m *v1alpha1.Manifest) { in(v1alpha1.StateWarning, "2 Samples are in the way")(m); deleted(m) },
			want:   outcome{policies: all, ready: "a: 2 Samples are in the way", result: ctrl.Result{RequeueAfter: time.Hour}},
		},
		"WaitConflict": {
			reason: "The cache is only briefly outdated.",
			kyma:   goes, child: deleted, status: kerrors.NewConflict(schema.GroupResource{}, "k", boom),
			want: outcome{policies: all, ready: "a: is being removed", result: ctrl.Result{RequeueAfter: conflictRetry}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k, child := newKyma(), installed(newKyma(), newTemplate("a", "regular", "1.0.0"))
			if tc.kyma != nil {
				tc.kyma(k)
			}
			if tc.child != nil {
				tc.child(child)
			}
			c := &propagation{kyma: k, child: child, listed: tc.listed, fails: tc.fails, status: tc.status}
			got, err := c.reconcile(t.Context())
			if wantErr := tc.fails; !kerrors.IsConflict(wantErr) && !errors.Is(err, wantErr) || kerrors.IsConflict(wantErr) && err != nil {
				t.Errorf("\n%s\nReconcile(...): want %v, and no error for a conflict; got %v", tc.reason, wantErr, err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(outcome{})); diff != "" {
				t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
