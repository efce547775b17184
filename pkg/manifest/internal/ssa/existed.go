// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"encoding/json"
	"slices"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// existed handles the response to a create that updated an object. An API server of Kubernetes refuses it, unless the object has the
// version that no object should have. If fields of the object have other managers, it belongs to someone else: existed removes the
// labels that would mark it as an object of the bundle, and returns a conflict, as an API server of Kubernetes would. Values of other
// managers did not change, because the request had no force.
func existed(ctx context.Context, c *Client, o *object.Desired, m cluster.Mapping, answer []byte) error {
	found := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(answer, found); err != nil {
		return errors.Wrap(err, "cannot read the response")
	}
	if !slices.ContainsFunc(found.ManagedFields, func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager != c.FieldManager && f.Subresource == ""
	}) {
		return nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": found.UID, "labels": map[string]any{object.LabelManagedBy: nil, object.LabelPartOf: nil, object.LabelApplySetID: nil},
	}})
	if err != nil {
		return err
	}
	left := &metav1.PartialObjectMetadata{}
	b, err := c.Patch(ctx, o.GVK(), m, o.Ref, Patch{Type: MergePatch, Body: body, Accept: Metadata})
	if err == nil {
		err = json.Unmarshal(b, left)
	}
	if err != nil {
		return errors.Wrap(Explain(err), "the object already existed, and the labels that were added to it cannot be removed")
	}
	c.note(o.Ref, left, health.MetadataStateOf(c.FieldManager, left))
	return kerrors.NewConflict(schema.GroupResource{Group: o.GVK().Group, Resource: m.Resource}, o.Ref.Name,
		errors.New("the object already existed, and the API server did not check its resource version"))
}
