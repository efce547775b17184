// SPDX-License-Identifier: Apache-2.0

package namespaces

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestLabels(t *testing.T) {
	forbidden := kerrors.NewForbidden(corev1.Resource("namespaces"), "n", nil)
	type want struct {
		labels   map[string]string
		requests int
		err      string
	}
	cases := map[string]struct {
		reason string
		name   string
		fails  error
		want   want
	}{
		"Known": {
			reason: "Passes over many Manifests of a namespace send one request.",
			name:   "n", want: want{labels: map[string]string{"team": "a"}, requests: 1},
		},
		"Missing": {
			reason: "A failure is not cached.",
			name:   "none", want: want{requests: 2, err: `cannot get namespace "none"`},
		},
		"Forbidden": {
			reason: "Crossplane does not grant access to namespaces, so the message names an example that does.",
			name:   "n", fails: forbidden, want: want{requests: 2, err: "examples/rbac/read-namespaces.yaml"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := want{}
			r := NewReader(interceptor.NewClient(
				fake.NewClientBuilder().WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"team": "a"}}}).Build(),
				interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
					got.requests++
					if tc.fails != nil {
						return tc.fails
					}
					return c.Get(ctx, k, o, opts...)
				}},
			))
			for range 2 {
				labels, err := r.Labels(t.Context(), tc.name)
				if got.labels = labels; err != nil && strings.Contains(err.Error(), tc.want.err) {
					got.err = tc.want.err
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nLabels(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
