// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestConnectAndObserve(t *testing.T) {
	template := newTemplate("a", "regular", "1.0.0")
	notFound := kerrors.NewNotFound(schema.GroupResource{}, "x")
	config := func(mode v1alpha1.VerificationMode) test.MockGetFn {
		return func(_ context.Context, _ client.ObjectKey, o client.Object) error {
			pc, ok := o.(*v1alpha1.ProviderConfig)
			if !ok {
				return notFound
			}
			pc.Spec.Verification = &v1alpha1.Verification{Mode: mode}
			return nil
		}
	}
	cases := map[string]struct {
		reason    string
		get       test.MockGetFn
		component bool
		err       string
	}{
		"Missing": {reason: "Without the config, the Manifest does not contain the component.", get: test.NewMockGetFn(notFound)},
		"Off":     {reason: "The config does not ask for signatures.", get: config(v1alpha1.VerificationOff)},
		"Enforce": {reason: "The Manifest must be verified.", get: config(v1alpha1.VerificationEnforce), component: true},
		"Warn":    {reason: "The Manifest must be verified, although a failure is only a warning.", get: config(v1alpha1.VerificationWarn), component: true},
		"Error":   {reason: "The error is returned.", get: test.NewMockGetFn(errors.New("boom")), err: "cannot get Manifest k-a: boom"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &test.MockClient{MockGet: tc.get, MockList: func(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
				if templates, ok := l.(*v1alpha1.ModuleTemplateList); ok {
					templates.Items = []v1alpha1.ModuleTemplate{template}
				}
				return nil
			}}
			con := &connector{
				store: newStore(c, c), record: newRecorder(), controlPlane: "control-plane",
				usage: resource.ModernTrackerFn(func(context.Context, resource.ModernManaged) error { return nil }),
			}
			k := newKyma(v1alpha1.Module{Name: "a"})
			got, err := con.Connect(t.Context(), k)
			if err == nil {
				_, err = got.Observe(t.Context(), k)
			}
			if tc.err != "" {
				if err == nil || err.Error() != tc.err {
					t.Errorf("\n%s\nObserve(...): want error %q, got %v", tc.reason, tc.err, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("\n%s\nObserve(...): %v", tc.reason, err)
			}
			steps := got.(*external).steps
			if len(steps) != 1 || steps[0].action != actionCreate || (steps[0].desired.Spec.ForProvider.Component != nil) != tc.component {
				t.Errorf("\n%s\nObserve(...): %+v", tc.reason, steps)
			}
		})
	}
}
