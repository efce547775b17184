// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// An indexer stores index functions by name.
type indexer map[string]client.IndexerFunc

func (i indexer) IndexField(_ context.Context, _ client.Object, name string, f client.IndexerFunc) error {
	if i == nil {
		return errors.New("boom")
	}
	i[name] = f
	return nil
}

func TestAddIndexes(t *testing.T) {
	i := indexer{}
	if err := addIndexes(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	k, tpl := newKyma(v1alpha1.Module{Name: "a"}, v1alpha1.Module{Name: "b"}), newTemplate("a", "regular", "1.0.0")
	released := installed(k, tpl)
	released.OwnerReferences, released.Annotations = nil, map[string]string{v1alpha1.AnnotationReleasedBy: "someone"}
	cases := map[string]struct {
		reason, index string
		object        client.Object
		want          []string
	}{
		"Child":    {"A Manifest is found by its Kyma.", indexKyma, installed(k, tpl), []string{string(kymaUID)}},
		"Released": {"A released Manifest is found by its former Kyma.", indexKyma, released, []string{"someone"}},
		"Free":     {"A Manifest without a Kyma is not found by one.", indexKyma, &v1alpha1.Manifest{}, nil},
		"Module":   {"A template is found by its module.", indexModule, &tpl, []string{"a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, i[tc.index](tc.object)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if err := addIndexes(t.Context(), indexer(nil)); err == nil {
		t.Error("addIndexes(...): want an error")
	}
}
