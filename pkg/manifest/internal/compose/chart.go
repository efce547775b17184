// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/decoding"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// renderChart returns the objects of a chart as rendered. If the chart would now render different objects, it returns the objects
// recorded for a revision.
func (c *Composer) renderChart(ctx context.Context, out *Component) ([]*unstructured.Unstructured, error) {
	// A chart that is too large for the cache counts until it is rendered.
	held, done := decoding.HoldArchive(ctx)
	defer done()
	chart, err := c.Caches.loadChart(held, out.Install)
	if err != nil {
		return nil, err
	}
	out.Chart = chart
	o, err := c.optionsOf(ctx, out)
	if err != nil {
		return nil, err
	}
	r, err := c.Renderer.Chart(ctx, c.Bundle.Tenant, chart, o)
	if err == nil && out.Purpose == Advance {
		// Refuse a release that is too large to be recorded before anything is applied.
		err = r.Draft.Check("")
	}
	if err != nil {
		return nil, err
	}
	objects, err := c.objectsOf(ctx, out, r)
	if err != nil {
		return nil, err
	}
	if objects, err = c.rollbackObjects(ctx, out, r, objects); err != nil {
		return nil, err
	}
	out.Rendered, out.Capabilities = r, capabilitiesOf(chart, &o, r.Pure)
	if out.Purpose == Advance && !out.Continued {
		out.Record.Capabilities = string(out.Capabilities)
	}
	out.Hooks = out.hooksToRun()
	return slices.Concat(r.CRDs, objects), nil
}

// optionsOf returns the options for rendering a chart. It gets the API versions of the cluster only if the chart needs them.
func (c *Composer) optionsOf(ctx context.Context, out *Component) (render.Options, error) {
	o := out.Installation.optionsIn(render.Options{Revision: out.Next.Number, Upgrade: out.Next.IsUpgrade(), REST: c.Connection})
	var err error
	if o.KubeVersion, err = c.Environment.Version(ctx); err != nil {
		return o, errors.Wrap(err, "cannot get the version of the cluster")
	}
	if out.Chart.NeedsAPIVersions(o.Values, o.Overrides) {
		if o.APIVersions, err = c.Environment.APIVersions(ctx); err != nil {
			return o, errors.Wrap(err, "cannot get the API versions of the cluster")
		}
	}
	return o, nil
}

// objectsOf returns the objects of a rendered chart. If the chart renders differently each time, for example because of random
// values, it returns the recorded objects of the revision that is repaired, decorated or continued, or that is already deployed. Hooks come
// from the same record.
func (c *Composer) objectsOf(ctx context.Context, out *Component, r *render.Rendered) ([]*unstructured.Unstructured, error) {
	home, resumes := out.Installation.Release, out.Record.Resumes(out.Inputs(), c.Retry)
	switch {
	case r.Pure && !out.Recorded:
		return r.Objects, nil
	case out.Purpose != Advance && out.Record.Revision > 0:
		info, err := c.Releases.Get(ctx, home, out.Record.Revision)
		if err != nil {
			return nil, err
		}
		if info != nil {
			return release.Objects(info.Manifest, home, out.Record.Revision)
		}
		if r.Pure {
			out.Recorded = false
			return r.Objects, nil
		}
		return nil, errors.Errorf("the record of release %s revision %d no longer exists, and the chart renders differently each time, "+
			"so the revision cannot be restored; change a value to install a new one", home.Name, out.Record.Revision)
	case resumes || out.Next.State == release.AlreadyDeployed:
		info, err := c.Releases.Get(ctx, home, out.Next.Number)
		if err != nil || info == nil {
			return r.Objects, err
		}
		out.Continued, r.Hooks = resumes, info.Hooks()
		return release.Objects(info.Manifest, home, out.Next.Number)
	}
	out.Recorded = false
	return r.Objects, nil
}

// rollbackObjects returns the recorded objects of the revision that a rollback restores, if rendering the chart does not reproduce
// them. Otherwise, it returns the given objects unchanged. It returns an error if rendering does not reproduce the objects and no record
// has them, because the rollback would replace random values, such as passwords, that are in use.
func (c *Composer) rollbackObjects(
	ctx context.Context, out *Component, r *render.Rendered, objects []*unstructured.Unstructured,
) ([]*unstructured.Unstructured, error) {
	if !c.RollsBack || out.Purpose != Advance {
		return objects, nil
	}
	var err error
	out.Next.BackTo, out.Next.BackManifest, err = c.Releases.FindRollback(ctx, out.Desired.Release, out.Inputs(), r.Pure)
	switch home := out.Installation.Release; {
	case err != nil:
		return nil, err
	case out.Next.BackManifest != "":
		return release.Objects(out.Next.BackManifest, home, out.Next.BackTo)
	case !r.Pure && !out.Continued && out.Next.Before > 0:
		return nil, errors.Errorf("no record of release %s has the objects that the rollback restores, and the chart renders differently each "+
			"time; change a value to install a new revision", home.Name)
	}
	return objects, nil
}
