// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
)

var (
	things = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "things"}
	module = Module{Resource: things, Deployment: types.NamespacedName{Namespace: "a", Name: "op"}, Needed: "text"}
)

func deployment(generation, observed int64, available corev1.ConditionStatus) runtime.Object {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "op", Generation: generation},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: observed,
			Conditions:         []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: available}},
		},
	}
}

func thing(text string, change func(u *unstructured.Unstructured)) runtime.Object {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"text": text}}}
	u.SetAPIVersion("example.org/v1")
	u.SetKind("Thing")
	u.SetNamespace("b")
	u.SetName("x")
	u.SetUID("1")
	if change != nil {
		change(u)
	}
	return u
}

func TestLook(t *testing.T) {
	now := metav1.Now()
	type want struct {
		State, Message string
		Finalizers     []string
		Patches        int
	}
	cases := map[string]struct {
		reason  string
		objects []runtime.Object
		want    want
	}{
		"NoDeployment": {
			reason:  "A resource that is not served does not get a finalizer.",
			objects: []runtime.Object{thing("hi", nil)},
			want:    want{State: "Processing", Message: "Deployment a/op doesn't exist", Patches: 1},
		},
		"NotAvailable": {
			reason:  "A resource is not Ready before its Deployment is available.",
			objects: []runtime.Object{thing("hi", nil), deployment(1, 1, corev1.ConditionFalse)},
			want:    want{State: "Processing", Message: "Deployment a/op is not available", Patches: 1},
		},
		"Changed": {
			reason:  "The availability before a change is ignored.",
			objects: []runtime.Object{thing("hi", nil), deployment(2, 1, corev1.ConditionTrue)},
			want:    want{State: "Processing", Message: "Deployment a/op is not available", Patches: 1},
		},
		"Ready": {
			reason:  "An available Deployment makes the resource Ready, and it gets a finalizer.",
			objects: []runtime.Object{thing("hi", nil), deployment(1, 1, corev1.ConditionTrue)},
			want:    want{State: "Ready", Finalizers: []string{Finalizer}, Patches: 2},
		},
		"Known": {
			reason: "An unchanged status is not written again.",
			objects: []runtime.Object{thing("hi", func(u *unstructured.Unstructured) {
				u.SetFinalizers([]string{Finalizer})
				u.Object["status"] = map[string]any{"state": "Ready"}
			}), deployment(1, 1, corev1.ConditionTrue)},
			want: want{State: "Ready", Finalizers: []string{Finalizer}},
		},
		"Warning": {
			reason:  "An invalid custom resource is reported.",
			objects: []runtime.Object{thing("", nil), deployment(1, 1, corev1.ConditionTrue)},
			want:    want{State: "Warning", Message: "spec.text is empty", Finalizers: []string{Finalizer}, Patches: 2},
		},
		"Deleted": {
			reason: "If the resource is deleted, only the finalizer of the operator is removed.",
			objects: []runtime.Object{thing("hi", func(u *unstructured.Unstructured) {
				u.SetDeletionTimestamp(&now)
				u.SetFinalizers([]string{"example.org/other", Finalizer})
			}), deployment(1, 1, corev1.ConditionTrue)},
			want: want{Finalizers: []string{"example.org/other"}, Patches: 1},
		},
		"DeletedTooLate": {
			reason: "Without its module, the finalizer of a resource is not removed.",
			objects: []runtime.Object{thing("hi", func(u *unstructured.Unstructured) {
				u.SetDeletionTimestamp(&now)
				u.SetFinalizers([]string{Finalizer})
			})},
			want: want{State: "Deleting", Message: "Deployment a/op doesn't exist", Finalizers: []string{Finalizer}, Patches: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := appsv1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			c := fake.NewSimpleDynamicClientWithCustomListKinds(scheme, map[schema.GroupVersionResource]string{things: "ThingList"}, tc.objects...)
			o := &Operator{Client: c}
			if err := o.look(t.Context(), module); err != nil {
				t.Fatal(err)
			}
			got := want{}
			for _, a := range c.Actions() {
				if a.GetVerb() == "patch" {
					got.Patches++
				}
			}
			u, err := c.Resource(things).Namespace("b").Get(t.Context(), "x", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got.State, got.Message = seen(u)
			got.Finalizers = u.GetFinalizers()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLookWithoutCRD(t *testing.T) {
	c := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{things: "ThingList"})
	if err := (&Operator{Client: c}).look(t.Context(), module); err != nil {
		t.Errorf("a module that is not installed is not an error, got %v", err)
	}
}
