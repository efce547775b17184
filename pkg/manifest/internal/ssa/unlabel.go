// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"encoding/json"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// Unlabel removes labels from an object, if it still has this UID and resource version. Otherwise, unlabeled is false. An object that is
// gone needs no change.
func (c *Client) Unlabel(
	ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef, uid, resourceVersion string, labels []string,
) (unlabeled bool, err error) {
	m, err := c.cluster.Mapping(ctx, gvk)
	if err != nil {
		return false, err
	}
	change := make(map[string]any, len(labels))
	for _, l := range labels {
		change[l] = nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": uid, "resourceVersion": resourceVersion, "labels": change}})
	if err != nil {
		return false, errors.Wrap(err, "cannot encode")
	}
	_, err = c.Patch(ctx, gvk, m, r, Patch{Type: MergePatch, Body: body, Accept: Metadata})
	switch {
	case kerrors.IsConflict(err):
		return false, nil
	case err != nil:
		if gone, err := c.Absent(ctx, gvk, m, r.Name, err); !gone {
			return false, errors.Wrapf(Explain(err), "%s: cannot remove its labels", r)
		}
	}
	// The watch shows neither an object without the label of the engine nor its deletion.
	c.cluster.Cache().Forget(r)
	return true, nil
}
