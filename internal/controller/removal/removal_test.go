// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"slices"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/cache"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// newRemover returns a Remover of Kymas that records its requests.
func newRemover(allowed *bool, requests *[]string, deletes error) *Remover {
	return New(&test.MockClient{
		MockCreate: func(_ context.Context, o client.Object, _ ...client.CreateOption) error {
			*requests = append(*requests, "review")
			if r, ok := o.(*authorizationv1.SelfSubjectAccessReview); ok {
				r.Status.Allowed = *allowed && r.Spec.ResourceAttributes.Resource == "kymas" && r.Spec.ResourceAttributes.Verb == "delete"
			}
			return nil
		},
		MockDelete: func(context.Context, client.Object, ...client.DeleteOption) error {
			*requests = append(*requests, "delete")
			return deletes
		},
		MockPatch: func(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
			*requests = append(*requests, "release to "+o.GetOwnerReferences()[0].Name+" for "+o.GetAnnotations()[v1alpha1.AnnotationReleasedBy])
			return nil
		},
	}, v1alpha1.KymaGroupVersionKind, "kymas")
}

func TestRemove(t *testing.T) {
	cases := map[string]struct {
		reason  string
		allowed bool
		deletes error
		gone    bool
		want    []string
	}{
		"Allowed":   {reason: "An object is deleted if the API server allows it.", allowed: true, want: []string{"review", "delete"}},
		"Denied":    {reason: "Without the permission, the garbage collector deletes it.", want: []string{"review", "release to set for uid"}},
		"Forbidden": {reason: "An admission controller can refuse what RBAC allows.", allowed: true, deletes: kerrors.NewForbidden(schema.GroupResource{}, "a", errors.New("no")), want: []string{"review", "delete", "release to set for uid"}},
		"Deleted":   {reason: "An object that is being deleted needs no request.", allowed: true, gone: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			k := &v1alpha1.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "k", UID: "u"}}
			if tc.gone {
				k.DeletionTimestamp = &metav1.Time{Time: time.Now()}
			}
			err := newRemover(&tc.allowed, &got, tc.deletes).Remove(t.Context(), k, Owner{Kind: v1alpha1.KymaSetKind, Name: "set", UID: "uid"})
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("%s\nRemove(...): want %q, got %q, %v", tc.reason, tc.want, got, err)
			}
		})
	}
}

// TestAllowed checks that an answer is cached for each namespace, and forgotten after a while.
func TestAllowed(t *testing.T) {
	allowed, got, clock := true, []string(nil), clocktesting.NewFakeClock(time.Now())
	r := newRemover(&allowed, &got, nil)
	r.rights = cache.NewExpiringWithClock(clock)
	for _, ns := range []string{"a", "a", "b", "a"} {
		if ok, err := r.Allowed(t.Context(), ns); !ok || err != nil {
			t.Fatalf("Allowed(...): %v, %v", ok, err)
		}
	}
	if len(got) != 2 {
		t.Errorf("Allowed(...): want one question for each namespace, got %v", got)
	}
	clock.Step(RightsTTL)
	allowed = false
	if ok, _ := r.Allowed(t.Context(), "a"); ok || r.rights.Len() != 1 {
		t.Errorf("Allowed(...): an old answer must be forgotten: %v, %d are kept", ok, r.rights.Len())
	}
}
