// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// attempts is the number of attempts to change a CRD that other clients change at the same time.
const attempts = 3

// A Sharer changes whose CRDs are that several bundles use. ssa.Marks implements it.
type Sharer interface {
	TakeOver(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string) (*metav1.PartialObjectMetadata, bool, error)
	UnuseAt(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string) (bool, error)
}

// A HandedOver is a CRD that stays in the cluster because other bundles use it. One of them becomes its owner.
type HandedOver struct {
	Ref cluster.ObjectRef
	// Users lists the owners of the bundles that use it, or a hash for each of those that have none.
	Users []string
}

// String names the CRD and its users.
func (h HandedOver) String() string { return h.Ref.String() + " (" + strings.Join(h.Users, ", ") + ")" }

// isHandedOver reports whether the result contains a CRD as handed over.
func (r *Result) isHandedOver(k cluster.ObjectRef) bool {
	return slices.ContainsFunc(r.HandedOver, func(h HandedOver) bool { return h.Ref == k })
}
