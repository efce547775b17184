// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"net/http"
	"strings"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
)

// TestPage checks that a 404 that is not from an API server does not mean that an object of the control plane does not exist.
func TestPage(t *testing.T) {
	page := kerrors.NewGenericServerResponse(http.StatusNotFound, "GET", schema.GroupResource{Resource: "manifests"}, "k-a", "canary", 0, true)
	k := newKyma()
	m := installed(k, newTemplate("a", "regular", "1.0.0"))
	c := &test.MockClient{
		MockGet: test.NewMockGetFn(page), MockPatch: test.NewMockPatchFn(page), MockDelete: test.NewMockDeleteFn(page),
		MockCreate: test.NewMockCreateFn(nil), MockApply: test.NewMockApplyFn(page),
	}
	apply := func(desired *v1alpha1.Manifest) error {
		_, err := newStore(c, c).apply(t.Context(), k, desired)
		return err
	}
	cases := map[string]struct {
		reason string
		do     func() error
	}{
		"Get": {reason: "It is unknown whether a name is taken.", do: func() error {
			other, err := getManifest(t.Context(), c, namespace, "k-a")
			if other != nil {
				t.Errorf("want no Manifest, got %v", other)
			}
			return err
		}},
		"Release": {reason: "The Manifest was not released.", do: func() error { return newStore(c, nil).removals.Release(t.Context(), m, ownerOf(k)) }},
		"Update":  {reason: "The Manifest was not changed.", do: func() error { return apply(desiredManifest(k, intent{}, nil, m)) }},
		"Create": {reason: "The Manifest was not created.", do: func() error {
			return apply(desiredOf(k, newTemplate("a", "regular", "1.0.0"), v1alpha1.Module{Name: "a"}, nil))
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.do()
			if e := (*notfound.Error)(nil); !errors.As(err, &e) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s\nwant an error of type *notfound.Error without the page, got %v", tc.reason, err)
			}
		})
	}
}
