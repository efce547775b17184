// SPDX-License-Identifier: Apache-2.0

package transfer

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/module/bundle"
	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
	"github.com/crossplane-contrib/provider-kyma/internal/ocm"
)

// charts calls f for each chart that is stored next to the module and must be transferred with it. It warns about the others.
func (t *transfer) charts(ctx context.Context, b *bundle.Bundle, f func(c *bundle.Chart, from store.Reader) error) error {
	charts, others := b.Charts()
	for _, o := range others {
		t.e.Warnf("%s is not copied: only charts below %s/ that are pinned by digest are copied",
			o, bundle.ChartsDir)
	}
	for i := range charts {
		c := &charts[i]
		from, _, err := b.ChartStore(ctx, c)
		if missing := (*store.NotFoundError)(nil); errors.As(err, &missing) && b.Layout() != "" {
			t.e.Warnf("chart %s is not in the layout: the registry must already have it", c.Reference())
			continue
		}
		if err != nil {
			return err
		}
		if err := f(c, from); err != nil {
			return err
		}
	}
	return nil
}

// chartsToRegistry copies the charts of a module to their repositories at a location, next to the module.
func (t *transfer) chartsToRegistry(ctx context.Context, b *bundle.Bundle, l ocm.Location, out *destination, regs oci.Registries) error {
	return t.charts(ctx, b, func(c *bundle.Chart, from store.Reader) error {
		repository, err := c.In(l)
		if err != nil {
			return err
		}
		to, err := remote.New(repository, regs)
		if err != nil {
			return err
		}
		n, err := t.copyArtifact(ctx, c.Repository+":"+c.Tag, from, c.Digest, to, c.Tag)
		out.Uploaded += n
		return err
	})
}
