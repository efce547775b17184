// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// recordPending writes down that a revision is being installed, before the first of its hooks runs.
func (st *step) recordPending(ctx context.Context, pl *planned) error {
	superseded, err := st.superseded(ctx, pl)
	if err != nil {
		return err
	}
	o := st.recordOptions(pl, superseded)
	switch {
	case !pl.upgrade():
		o.Status, o.Description = render.StatusPendingInstall, "Initial install underway"
	case st.s.RollingBack:
		o.Status, o.Description = render.StatusPendingRollback, "Preparing rollback"
	default:
		o.Status, o.Description = render.StatusPendingUpgrade, "Preparing upgrade"
	}
	return st.writeRecord(ctx, pl, o)
}

// recordDeployed says that a revision is installed. One that is recorded as pending stays as it was recorded.
func (st *step) recordDeployed(ctx context.Context, pl *planned, o render.RecordOptions) error {
	if pl.run != nil && pl.run.Recorded {
		if found, err := st.describe(ctx, pl.in.home, o.Revision, o.Status, o.Description); found || err != nil {
			return err
		}
	}
	if pl.run == nil {
		if err := st.cutShort(ctx, pl); err != nil {
			return err
		}
	}
	return st.writeRecord(ctx, pl, o)
}

// describe a recorded revision anew. It says whether there is one.
func (w *work) describe(ctx context.Context, h inventory.Release, revision int, status, text string) (bool, error) {
	info, err := w.release(ctx, h, revision)
	if err != nil || info == nil {
		return false, err
	}
	s, err := info.WithOutcome(status, text)
	if err != nil {
		return true, err
	}
	err = w.SendSecret(ctx, http.MethodPut, s)
	if notfound.Is(err) {
		return false, nil
	}
	return true, errors.Wrapf(ssa.Explain(err), "cannot record that revision %d of release %s is %s", revision, h.Name, status)
}
