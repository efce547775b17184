// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/advice"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
)

// An Environment provides the properties of a cluster on which objects depend. A cluster.Cluster implements it.
type Environment interface {
	cluster.Mapper
	cluster.Versions
}

// Releases provides the records of Helm releases in a cluster. A release.History implements it.
type Releases interface {
	// Next returns the next revision of a part, and the record of the part while that revision is being installed.
	Next(ctx context.Context, d *release.Wanted, rec inventory.Part) (release.Next, inventory.Part, error)

	// FindRollback returns the revision that was installed with the given inputs, or 0 if there is none. It also returns the
	// manifest of the revision, unless the chart is pure, which means that it renders the same objects again.
	FindRollback(ctx context.Context, r inventory.Release, inputs inventory.Inputs, pure bool) (revision int, manifest string, err error)

	// Get returns a recorded revision of a release, or nil if there is none.
	Get(ctx context.Context, r inventory.Release, revision int) (*record.Info, error)
}

// A Composer makes Components from the parts of one bundle for one cluster. It serves one call of the engine, and must not be
// used concurrently.
type Composer struct {
	// Messages contains the advice to users.
	Messages advice.Messages
	Bundle   *bundle.Bundle
	Config   *Config
	// Retry is the token that runs failed hooks again. RollsBack is true if the bundle is the last known good revision.
	Retry     string
	RollsBack bool

	Environment Environment
	Releases    Releases
	// Connection configures the access of charts that look up objects in the cluster.
	Connection *rest.Config

	// Stored is the inventory in the cluster, or nil.
	Stored *inventory.Inventory
	// Inventory refers to the Secret that holds the inventory of the bundle. Its namespace holds the inventories of all bundles.
	Inventory cluster.ObjectRef
	// Labels are added to each object.
	Labels map[string]string

	// Renderer renders charts and kustomizations.
	Renderer Renderer
	// Caches contains the caches of the engine. If it is nil, nothing is cached.
	Caches *Caches
}

// Compose fetches and renders a part. The parameter rec is the record of the part in the inventory. Compose sends no requests to
// the cluster except through Environment and Releases, and for objects that the chart looks up.
//
// A repair returns the objects that were applied. If the chart now renders different objects because the capabilities of the
// cluster have changed, the inputs count as changed, and the component gets a new revision. If it renders different objects for
// any other reason, Compose returns the objects in the release record. A part of which only labels change also returns the recorded
// objects. Without a release record, its inputs count as changed if the capabilities have changed.
func (c *Composer) Compose(ctx context.Context, p *bundle.Part, rec inventory.Part) (*Component, error) {
	out, err := c.compose(ctx, p, rec, false)
	if err != nil || out.Rendered == nil {
		return out, err
	}
	if out.Purpose == Repair && out.Rendered.Pure && c.reproduces(out) {
		out.Record.Capabilities = string(out.Capabilities)
		return out, nil
	}
	switch {
	case out.Purpose == Advance:
		return out, nil
	case out.isOutdated(rec):
		rec.Invalidate()
		return c.compose(ctx, p, rec, false)
	case out.Purpose == Repair && out.Rendered.Pure:
		return c.compose(ctx, p, rec, true)
	}
	return out, nil
}

// reproduces reports whether the objects of a component are the applied ones, according to the stored inventory.
func (c *Composer) reproduces(out *Component) bool {
	if c.Stored == nil {
		return true
	}
	idx, found := c.Stored.Index(), map[cluster.ObjectRef]bool{}
	for i := range out.Objects {
		o := &out.Objects[i]
		en := idx[o.Ref]
		switch {
		case en == nil:
			return false
		case en.Part != out.Name:
			continue // A CRD that another part has, too.
		case en.Intent != "" && en.Intent != o.Hash:
			return false
		}
		found[o.Ref] = true
	}
	for ref, en := range idx {
		if en.Part == out.Name && !en.Pruned && !found[ref] {
			return false
		}
	}
	return true
}

// compose fetches and renders a part. If recorded is set, a repair of a chart uses the objects of its release record.
func (c *Composer) compose(ctx context.Context, p *bundle.Part, rec inventory.Part, recorded bool) (*Component, error) {
	out := &Component{Part: p, Record: rec, Purpose: PurposeOf(p, &rec)}
	out.Recorded = recorded || out.Purpose == Decorate
	if err := c.install(ctx, out); err != nil {
		return nil, err
	}
	// Until all objects are applied, the cluster contains both old and new objects.
	switch out.Purpose {
	case Advance:
		out.Record.Invalidate()
		out.Record.Shared = nil
	case Decorate:
		out.Record.Digest = ""
	case Repair:
	}
	objects, err := c.render(ctx, out)
	if err != nil {
		return nil, err
	}
	if err := c.Bundle.Transform(ctx, objects...); err != nil {
		return nil, err
	}
	c.learnKinds(objects)
	if err := c.build(ctx, out, objects); err != nil {
		return nil, err
	}
	if err := c.confineHooks(ctx, out); err != nil {
		return nil, err
	}
	return out, nil
}

// install sets the installation of a part that is an install, and the next revision of its release. It leaves other parts
// unchanged.
func (c *Composer) install(ctx context.Context, out *Component) error {
	if out.Install == nil {
		return nil
	}
	in, err := c.Config.installation(ctx, out.Install)
	if err != nil {
		return err
	}
	if !in.Release.IsZero() {
		if err := c.Bundle.ConfineRelease(in.Release.Namespace); err != nil {
			return err
		}
	}
	out.Installation = in
	in.recordConfig(&out.Record)
	out.Desired = release.Wanted{
		Part: out.Name, Release: in.Release, Inputs: out.Inputs(), Retry: c.Retry, Adopts: c.adoption(in), RollsBack: c.RollsBack,
		Renamed: c.Stored.HasRelease(in.Release, c.lacks), Messages: c.Messages,
	}
	out.Next, out.Record, err = c.Releases.Next(ctx, &out.Desired, out.Record)
	return err
}

// lacks reports whether the bundle does not contain a part.
func (c *Composer) lacks(name object.PartID) bool {
	return !slices.ContainsFunc(c.Bundle.Outline(), func(p bundle.Part) bool { return p.Name == name })
}

// adoption returns which objects may be taken over. If the bundle adopts, that applies to all parts. Otherwise, the config of the
// installation decides. The installation is nil for parts that are not installs.
func (c *Composer) adoption(in *Installation) object.Adoption {
	switch {
	case c.Bundle.Adopt:
		return object.AdoptAll
	case in != nil && in.Config.TakeOwnership:
		return object.AdoptUnowned
	}
	return object.AdoptNone
}

// render returns the objects of a part as specified in its source.
func (c *Composer) render(ctx context.Context, out *Component) ([]*unstructured.Unstructured, error) {
	if out.Install != nil && out.Install.Form == bundle.FormChart {
		return c.renderChart(ctx, out)
	}
	// Only charts depend on the cluster. The part may have been a chart before.
	out.Record.Capabilities = ""
	return readPart(ctx, c.Renderer, c.Bundle.Tenant, c.Caches, out.Part)
}

// learnKinds registers the kinds that CRDs among the objects will add to the cluster.
func (c *Composer) learnKinds(objects []*unstructured.Unstructured) {
	for _, u := range objects {
		if u.GroupVersionKind().GroupKind() != object.CRDKind {
			continue
		}
		for gvk, m := range object.ServedKinds(u) {
			c.Environment.AddMapping(gvk, m)
		}
	}
}

// build sets the objects of a component to the objects as they are applied.
func (c *Composer) build(ctx context.Context, out *Component, objects []*unstructured.Unstructured) error {
	seen := make(map[cluster.ObjectRef]bool, len(objects))
	for _, u := range objects {
		m, err := c.Place(ctx, out.Installation, u)
		if err != nil {
			return err
		}
		if err := c.Bundle.Confine(u); err != nil {
			return err
		}
		if holdsInventories(u, c.Inventory.Namespace) {
			out.NamespaceMetadata = &NamespaceMetadata{Name: u.GetName(), Labels: u.GetLabels(), Annotations: u.GetAnnotations()}
			continue
		}
		o, err := out.desire(u, m, c.Labels)
		switch {
		case err != nil:
			return err
		case seen[o.Ref]:
			return errors.Errorf("duplicate object %s", o.Ref)
		case o.Ref == c.Inventory:
			return errors.Errorf("%s has the same name as the inventory of this module; rename the object", o.Ref)
		}
		o.Adoption = c.adoption(out.Installation)
		seen[o.Ref] = true
		out.Objects = append(out.Objects, o)
	}
	return nil
}

// Place sets the namespace of an object, and returns the mapping of its kind. The installation is nil for parts that are not
// installs.
func (c *Composer) Place(ctx context.Context, in *Installation, u *unstructured.Unstructured) (cluster.Mapping, error) {
	m, err := c.Environment.Mapping(ctx, u.GroupVersionKind())
	if err != nil {
		return cluster.Mapping{}, errors.Wrap(err, object.RefOf(u).String())
	}
	setNamespace(u, m.Namespaced, in)
	return m, nil
}
