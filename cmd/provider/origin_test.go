// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func TestControlPlaneUIDs(t *testing.T) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "ns"}}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "extension-apiserver-authentication", UID: "config"}}
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "manifests.kyma.m.crossplane.io", UID: "crd"}}
	type want struct {
		UIDs   []string
		Failed bool
	}
	cases := map[string]struct {
		reason  string
		objects []client.Object
		denied  map[string]bool
		fails   error
		want    want
	}{
		"All": {reason: "The namespace comes first.", objects: []client.Object{ns, config, crd}, want: want{UIDs: []string{"ns", "config", "crd"}}},
		"Granted": {
			reason:  "Crossplane grants ConfigMaps and CRDs. A request that is denied is not sent.",
			objects: []client.Object{config, crd}, denied: map[string]bool{"namespaces": true}, want: want{UIDs: []string{"config", "crd"}},
		},
		"None": {
			reason: "Without permissions, control planes are not compared.",
			denied: map[string]bool{"namespaces": true, "configmaps": true, "customresourcedefinitions": true},
		},
		"Missing":   {reason: "A control plane without a namespace kube-system has the CRD.", objects: []client.Object{crd}, want: want{UIDs: []string{"crd"}}},
		"Transient": {reason: "An error must not pass for a control plane without UIDs.", objects: []client.Object{ns, crd}, fails: errors.New("no"), want: want{Failed: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, apiextensionsv1.AddToScheme, authorizationv1.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.objects...).Build(), interceptor.Funcs{
				Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
					r, ok := o.(*authorizationv1.SelfSubjectAccessReview)
					if !ok {
						return errors.New("unexpected object")
					}
					r.Status.Allowed = !tc.denied[r.Spec.ResourceAttributes.Resource]
					return nil
				},
				Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					if tc.fails != nil {
						return tc.fails
					}
					return c.Get(ctx, k, o, opts...)
				},
			})
			uids, err := controlPlaneUIDs(t.Context(), c, c)
			if diff := cmp.Diff(tc.want, want{UIDs: uids, Failed: err != nil}); diff != "" {
				t.Errorf("\n%s\ncontrolPlaneUIDs(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
