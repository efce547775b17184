// SPDX-License-Identifier: Apache-2.0

package compose

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/release"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// ReleaseAt returns the revision of the chart as installed at the given time. The parameter run is the run of its hooks, or nil
// if there is none.
func (c *Component) ReleaseAt(now time.Time, run *inventory.Run) *release.NewRevision {
	in := c.Installation
	return &release.NewRevision{
		Desired: c.Desired, Next: c.Next, Chart: c.Chart, Rendered: c.Rendered, Description: in.Config.Description, Labels: in.Config.Labels,
		CreateNamespace: !in.KeepNamespaces, OwnNamespace: c.OwnNamespaces[in.Release.Namespace], Run: run, Now: now,
	}
}

// HasFormer returns a function that reports whether the bundle still has an object that an adopted release recorded: the
// component contains it, it is a member, or the cluster does not serve its kind. The function also sets the namespace of the
// object.
func (c *Composer) HasFormer(ctx context.Context, out *Component, isMember func(ref cluster.ObjectRef) bool) release.Has {
	wants := make(map[cluster.ObjectRef]bool, len(out.Objects))
	for i := range out.Objects {
		wants[out.Objects[i].Ref] = true
	}
	return func(u *unstructured.Unstructured) (bool, error) {
		_, err := c.Place(ctx, out.Installation, u)
		ref := object.RefOf(u)
		if ssa.IsNoKind(err) || wants[ref] || isMember(ref) {
			return true, nil
		}
		return false, err
	}
}
