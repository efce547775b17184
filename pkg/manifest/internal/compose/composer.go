// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// A Target tells a Composer what its objects depend on in the cluster. Its methods are those of a cluster.Cluster.
type Target interface {
	Mapping(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Mapping, error)
	Learn(gvk schema.GroupVersionKind, m cluster.Mapping)
	Version(ctx context.Context) (string, error)
	APIVersions(ctx context.Context) ([]string, error)
}

// Releases tell a Composer what a cluster has recorded of Helm releases. Its methods are those of a release.History.
type Releases interface {
	// Next returns the next revision of a part, and its record as it is while the revision is installed.
	Next(ctx context.Context, d *release.Desired, rec inventory.Part) (release.Next, inventory.Part, error)

	// FindRollback returns the revision that was installed with some inputs; 0 for none. With it come its objects, unless the
	// chart is pure, which means that it renders them again.
	FindRollback(ctx context.Context, r inventory.Release, inputs string, pure bool) (revision int, manifest string, err error)

	// Get returns a recorded revision of a release; nil if there is none.
	Get(ctx context.Context, r inventory.Release, revision int) (*record.Info, error)
}

// A Composer makes Components of the parts of one bundle for one cluster. It is made for one call of the engine, and must not
// be used concurrently.
type Composer struct {
	// Messages tell users what to do.
	Messages advice.Messages
	Bundle   *bundle.Bundle
	Config   *Config
	// Retry is the token that runs failed hooks once more. RollsBack says that the bundle is the last known good revision.
	Retry     string
	RollsBack bool

	Target   Target
	Releases Releases
	// Connection to the cluster, for charts that look up objects in it.
	Connection *rest.Config

	// Inventory is the Secret that holds the inventory of the bundle. Its namespace holds the inventories of all bundles.
	Inventory cluster.ObjectRef
	// Labels that each object gets.
	Labels map[string]string

	// Caches of the engine; nil caches nothing.
	Caches *Caches
}

// Compose fetches and renders a part, of which the inventory has a record. It sends no more requests than Target and Releases do.
func (c *Composer) Compose(ctx context.Context, p *bundle.Part, rec inventory.Part) (*Component, error) {
	out := &Component{Part: p, Record: rec, Purpose: PurposeOf(p, &rec)}
	if err := c.install(ctx, out); err != nil {
		return nil, err
	}
	if out.Purpose == Advance {
		// Until all objects are applied, the cluster has objects of the old inputs and of the new ones.
		out.Record.Digest, out.Record.Shared = "", nil
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
	return out, nil
}

// install sets what the config says of an install, and which revision of its release comes next. Other parts stay as they are.
func (c *Composer) install(ctx context.Context, out *Component) error {
	if out.Install == nil {
		return nil
	}
	in, err := c.Config.installation(ctx, out.Install)
	if err != nil {
		return err
	}
	out.Installation = in
	in.recordConfig(&out.Record)
	out.Desired = release.Desired{
		Part: out.Name, Release: in.Release, Inputs: out.Digest, Retry: c.Retry, Adopts: c.adoption(in), RollsBack: c.RollsBack,
		Messages: c.Messages,
	}
	out.Next, out.Record, err = c.Releases.Next(ctx, &out.Desired, out.Record)
	return err
}

// adoption returns what is taken over for an installation, which is nil for other parts: as the bundle says for all parts, or else as
// the config says.
func (c *Composer) adoption(in *Installation) object.Adoption {
	switch {
	case c.Bundle.Adopt:
		return object.AdoptAll
	case in != nil && in.Config.TakeOwnership:
		return object.AdoptUnowned
	}
	return object.AdoptNone
}

// render returns the objects of a part as its source has them.
func (c *Composer) render(ctx context.Context, out *Component) ([]*unstructured.Unstructured, error) {
	if out.Install != nil && out.Install.Form == bundle.FormChart {
		return c.renderChart(ctx, out)
	}
	return readPart(ctx, c.Caches, out.Part)
}

// learnKinds teaches the cluster the kinds that CRDs among the objects are about to add.
func (c *Composer) learnKinds(objects []*unstructured.Unstructured) {
	for _, u := range objects {
		if u.GroupVersionKind().GroupKind() != object.CRDKind {
			continue
		}
		for gvk, m := range object.ServedKinds(u) {
			c.Target.Learn(gvk, m)
		}
	}
}

// build sets the objects of a component, as they are applied.
func (c *Composer) build(ctx context.Context, out *Component, objects []*unstructured.Unstructured) error {
	seen := make(map[cluster.ObjectRef]bool, len(objects))
	for _, u := range objects {
		m, err := c.Place(ctx, out.Installation, u)
		if err != nil {
			return err
		}
		if holdsInventories(u, c.Inventory.Namespace) {
			continue
		}
		o, err := out.desire(u, m, c.Labels)
		switch {
		case err != nil:
			return err
		case seen[o.Ref]:
			return errors.Errorf("%s is there twice", o.Ref)
		case o.Ref == c.Inventory:
			return errors.Errorf("%s has the name of the inventory of this set", o.Ref)
		}
		o.Adoption = c.adoption(out.Installation)
		seen[o.Ref] = true
		out.Objects = append(out.Objects, o)
	}
	return nil
}

// Place sets the namespace of an object of an installation, which is nil for other parts. It returns how the kind of the object
// is addressed.
func (c *Composer) Place(ctx context.Context, in *Installation, u *unstructured.Unstructured) (cluster.Mapping, error) {
	m, err := c.Target.Mapping(ctx, u.GroupVersionKind())
	if err != nil {
		return cluster.Mapping{}, errors.Wrap(err, object.RefOf(u).String())
	}
	setNamespace(u, m.Namespaced, in)
	return m, nil
}
