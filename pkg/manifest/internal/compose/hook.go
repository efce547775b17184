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
		return object.Desired{}, errors.New("must be a single object with a name")
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
	if err := c.Bundle.Confine(u); err != nil {
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

// confineHooks returns an error if a hook of the chart is not allowed, before anything is applied. It skips hooks that cannot
// be read, and hooks of kinds that the cluster does not serve yet. BuildHook checks them before they are created.
func (c *Composer) confineHooks(ctx context.Context, out *Component) error {
	if c.Bundle.Confinement == nil || out.Rendered == nil || out.Installation.Config.DisableHooks {
		return nil
	}
	for i := range out.Rendered.Hooks {
		h := &out.Rendered.Hooks[i]
		objects, err := yamldoc.ChartObjects([]byte(h.Manifest + "\n"))
		if err != nil || len(objects) != 1 || c.Bundle.Transform(ctx, objects...) != nil {
			continue
		}
		if _, err := c.Place(ctx, out.Installation, objects[0]); err != nil {
			continue
		}
		if err := c.Bundle.Confine(objects[0]); err != nil {
			return errors.Wrapf(err, "hook %s", h.Name)
		}
	}
	return nil
}
