// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"context"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

func TestRelease(t *testing.T) {
	k, s := newKyma(), &server{}
	m := installed(k, newTemplate("a", "regular", "1.0.0"))
	r := newStore(s.client(), nil)
	if err := r.remove(t.Context(), k, m); err != nil {
		t.Fatal(err)
	}
	out := s.patched[0]
	if ownerUID(out) != k.UID {
		t.Errorf("remove(...): a Manifest that was released must still be found as one of the Kyma")
	}
	if len(out.OwnerReferences) != 1 || out.OwnerReferences[0].UID == k.UID || out.OwnerReferences[0].Kind != v1alpha1.KymaKind {
		t.Errorf("remove(...): want one owner that does not exist, got %v", out.OwnerReferences)
	}
	if err := r.remove(t.Context(), k, out); err != nil || len(s.patched) != 1 {
		t.Errorf("remove(...) again: want nothing to happen, got %v and %d patches", err, len(s.patched))
	}
}

func TestForbidden(t *testing.T) {
	k, s := newKyma(), &server{allowed: true}
	c := s.client()
	c.MockDelete = func(context.Context, client.Object, ...client.DeleteOption) error {
		return kerrors.NewForbidden(schema.GroupResource{}, "k-a", errors.New("no"))
	}
	if err := newStore(c, nil).remove(t.Context(), k, installed(k, newTemplate("a", "regular", "1.0.0"))); err != nil || len(s.patched) != 1 {
		t.Errorf("remove(...): want the Manifest to be released, got %v, %v", err, s.writes)
	}
}
