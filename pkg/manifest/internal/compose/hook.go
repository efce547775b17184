// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/internal/render/yamldoc"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// BuildHook returns the object of a hook of a part, ready to be created. If the hook does not specify a namespace, it gets the
// namespace of the installation. The identity identifies the hook in one run, and becomes the value of object.AnnotationHookRun.
func (c *Composer) BuildHook(ctx context.Context, in *Installation, part object.PartID, h *record.Hook, identity string) (object.Desired, error) {
	objects, err := yamldoc.ChartObjects([]byte(h.Manifest + "\n"))
	if err != nil {
		return object.Desired{}, err
	}
	if len(objects) != 1 || objects[0].GetName() == "" {
		return object.Desired{}, errors.New("must be one object with a name")
	}
	u := objects[0]
	if err := c.Bundle.Transform(ctx, u); err != nil {
		return object.Desired{}, err
	}
	// A hook may be a CRD, and later hooks may be of the kind that it defines.
	c.learnKinds(objects)
	if _, err := c.Place(ctx, in, u); err != nil {
		return object.Desired{}, err
	}
	object.AddLabels(u, c.Labels)
	a := u.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a[object.AnnotationHookRun] = identity
	u.SetAnnotations(a)
	o, err := object.New(u, part, object.StageOf(u.GroupVersionKind().GroupKind()))
	o.KeepNamespaces = in.KeepNamespaces
	return o, err
}
