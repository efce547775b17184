// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// DryRun returns the object that Apply would produce. The API server refuses the same objects as for Apply. Pass errors to
// Explain, or check for two of them with IsNamespaceMissing and IsNoKind.
func (c *Client) DryRun(ctx context.Context, o *object.Desired, how Mode) (*unstructured.Unstructured, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	b, err := c.dryRun(ctx, o, how, JSON)
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, errors.Wrapf(out.UnmarshalJSON(b), "%s: cannot read the response", o.Ref)
}

// DryRunDifferences returns the sorted paths of all differences between the live object and the result of applying an object by
// force. It returns no paths if applying the object would change nothing. Paths contain no values except the names of list items.
// Fields that only the API server writes, such as the status, are ignored.
func (c *Client) DryRunDifferences(ctx context.Context, o *object.Desired, live *unstructured.Unstructured) ([]string, error) {
	after, err := c.DryRun(ctx, o, Force)
	if err != nil {
		return nil, err
	}
	return fieldset.Differences(live.Object, after.Object), nil
}

// DryRunFields returns the fields that the engine would own after applying an existing object by force.
func (c *Client) DryRunFields(ctx context.Context, o *object.Desired) (*metav1.FieldsV1, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	b, err := c.dryRun(ctx, o, Force, Metadata)
	if err != nil {
		return nil, err
	}
	m := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, errors.Wrapf(err, "%s: cannot read the response", o.Ref)
	}
	return fieldset.AppliedBy(c.FieldManager, m.ManagedFields), nil
}

// DryRunCreate returns the object that the API server would create under an unused name.
func (c *Client) DryRunCreate(ctx context.Context, o *object.Desired) (*unstructured.Unstructured, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	const prefix = 40 // Shorter than any limit of names.
	m, err := c.cluster.Mapping(ctx, o.GVK())
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: o.Content()}
	u.SetGenerateName(o.Ref.Name[:min(len(o.Ref.Name), prefix)] + "-")
	u.SetName("")
	body, err := u.MarshalJSON()
	if err != nil {
		return nil, err
	}
	b, err := c.body(c.cluster.REST().Post().AbsPath(path(o.GVK().GroupVersion(), m, o.Ref.Namespace, "")).
		Param("fieldManager", c.FieldManager).Param("dryRun", "All").
		SetHeader("Accept", JSON).SetHeader("Content-Type", JSON).Body(body).Do(ctx))
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(b)
}

func (c *Client) dryRun(ctx context.Context, o *object.Desired, how Mode, accept string) ([]byte, error) {
	m, err := c.cluster.Mapping(ctx, o.GVK())
	if err != nil {
		return nil, err
	}
	return c.body(c.applyRequest(o, m, patchOf(o, how), how == Force).Param("dryRun", "All").SetHeader("Accept", accept).Do(ctx))
}

// PatchDryRun returns the object that a JSON patch would produce.
func (c *Client) PatchDryRun(ctx context.Context, o *object.Desired, m cluster.Mapping, body []byte) (*unstructured.Unstructured, error) {
	ctx, done := decoding.Hold(ctx)
	defer done()
	b, err := c.Patch(ctx, o.GVK(), m, o.Ref, Patch{Type: JSONPatch, Body: body, DryRun: true, Accept: JSON})
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, errors.Wrapf(out.UnmarshalJSON(b), "%s: cannot read the response", o.Ref)
}
