// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
)

// TestAwaitKymaUnseen checks that a wait continues after a temporary error while reading the Kyma, and fails if the request is
// denied.
func TestAwaitKymaUnseen(t *testing.T) {
	resource := schema.GroupResource{Group: v1alpha1.Group, Resource: "kymas"}
	cases := map[string]struct {
		reason string
		err    error
		want   func(error) bool
	}{
		"Unavailable": {"An unavailable server is a temporary error.", kerrors.NewServiceUnavailable("starting"), nil},
		"Forbidden":   {"A refused request is an error.", kerrors.NewForbidden(resource, "k", errors.New("no")), kerrors.IsForbidden},
		"Gone":        {"A missing Kyma is an error.", kerrors.NewNotFound(resource, "k"), func(err error) bool { return command.CodeOf(err) == command.ExitNotFound }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			k := &v1alpha1.Kyma{}
			k.Namespace, k.Name = "ns", "k"
			scheme := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			gets := 0
			byName := func(o client.Object) []string { return []string{o.GetName()} }
			c := interceptor.NewClient(
				fake.NewClientBuilder().WithScheme(scheme).WithObjects(k).WithIndex(&v1alpha1.Kyma{}, "metadata.name", byName).Build(),
				interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					if gets++; gets == 1 {
						return tc.err
					}
					return c.Get(ctx, key, o, opts...)
				}},
			)
			of := &resourceRef{kind: v1alpha1.KymaGroupVersionKind, NamespacedName: client.ObjectKeyFromObject(k)}
			all := &selection{environment: &command.Environment{Quiet: true}, client: c, of: of}
			_, _, err := all.await(t.Context(), "not planned", checkReconciled)
			if (err == nil) != (tc.want == nil) || err != nil && !tc.want(err) {
				t.Errorf("\n%s\nawait(...): got %v", tc.reason, err)
			}
		})
	}
}
