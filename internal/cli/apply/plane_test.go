// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// TestUnserved checks that a kind counts as not served only if the API server says so, and that its responses may contradict each other
// while a CRD is being deleted.
func TestUnserved(t *testing.T) {
	const others = `{"kind":"APIGroupList","groups":[{"name":"apps","versions":[{"version":"v1"}]}]}`
	listed := `{"kind":"APIGroupList","groups":[{"name":"` + v1alpha1.Group + `","versions":[{"version":"` + v1alpha1.Version + `"}]}]}`
	missing := kerrors.NewGenericServerResponse(404, "get", schema.GroupResource{}, "", "404 page not found", 0, true)
	cases := map[string]struct {
		reason string
		// contradictions is the number of lists of API groups that still contain the group.
		contradictions int
		want           bool
	}{
		"NotServed":    {reason: "The API server confirms it.", want: true},
		"Inconsistent": {reason: "The responses contradict each other for a moment.", contradictions: 3, want: true},
		"Never":        {reason: "The responses never agree.", contradictions: 1000},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lists := 0
			p := &Plane{Document: func(_ context.Context, path string) ([]byte, error) {
				if path != "/apis" {
					return nil, missing
				}
				if lists++; lists <= tc.contradictions {
					return []byte(listed), nil
				}
				return []byte(others), nil
			}}
			if got := p.unserved(t.Context(), v1alpha1.KymaGroupVersionKind); kmeta.IsNoMatchError(got) != tc.want {
				t.Errorf("\n%s\nunserved(...): want a NoKindMatchError: %t, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
