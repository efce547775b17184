// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/notfound"
	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// releasePrefix begins the name of each Secret that records a Helm release, and labelRevision is Helm's label of its
// revision. labelReleaseOf names the set that wrote it, and labelInputs the inputs that were installed.
const (
	releasePrefix  = "sh.helm.release.v1."
	labelRevision  = "version"
	labelReleaseOf = "kyma.m.crossplane.io/set"
	labelInputs    = "kyma.m.crossplane.io/inputs"

	// labelStatus is Helm's label of the status of a revision.
	labelStatus = "status"

	statusDeployed   = render.StatusDeployed
	statusSuperseded = render.StatusSuperseded
)

// finishInstall once its objects are applied: its release ends where it was before, and goes on where it is now. Plain
// objects have none.
func (st *step) finishInstall(ctx context.Context, pl *planned, rec *inventory.Part) error {
	if former := rec.FormerReleaseOf(pl.name); !former.IsZero() {
		if err := st.deleteRecords(ctx, former, false); err != nil {
			return err
		}
		rec.Former, rec.FormerRelease = "", ""
	}
	if pl.rendered == nil {
		rec.Revision, rec.Chart, rec.Version = 0, "", ""
		rec.Origin, rec.Run, rec.DeleteHooks, rec.TestHooks = 0, nil, false, false
		st.result.Installed = append(st.result.Installed, pl.name)
		return nil
	}
	if err := st.recordRelease(ctx, pl, rec); err != nil {
		return err
	}
	st.result.Installed = append(st.result.Installed, rec.Chart+" "+rec.Version)
	if pl.run != nil {
		st.result.HooksRun += pl.run.Done
	}
	return nil
}

// recordRelease writes what was just installed as a Helm release, so that `helm list` and `helm history` in the cluster
// show the truth.
func (st *step) recordRelease(ctx context.Context, pl *planned, rec *inventory.Part) error {
	superseded, err := st.superseded(ctx, pl)
	if err != nil {
		return err
	}
	o := st.recordOptions(pl, superseded)
	if err := st.pruneFormer(ctx, pl, superseded); err != nil {
		return err
	}
	if err := st.recordDeployed(ctx, pl, o); err != nil {
		return err
	}
	if err := st.retire(ctx, pl, superseded); err != nil {
		return err
	}
	rec.Revision, rec.Chart, rec.Version = o.Revision, pl.chart.Name(), pl.chart.Version()
	if pl.before == 0 {
		rec.Origin = pl.next - 1
	}
	rec.Run = nil
	noteHooks(rec, pl)
	return nil
}

// recordOptions of the revision that is being installed.
func (st *step) recordOptions(pl *planned, superseded *render.RecordInfo) render.RecordOptions {
	o := render.RecordOptions{
		Revision: pl.next, Status: statusDeployed, Description: "Install complete",
		FirstDeployed: st.e.now(), LastDeployed: st.e.now(),
		Labels: map[string]string{labelReleaseOf: st.id, labelInputs: pl.digest},
	}
	if pl.upgrade() {
		o.Description = "Upgrade complete"
	}
	if superseded != nil {
		o.FirstDeployed = superseded.FirstDeployed
	}
	pl.in.asked(&o)
	pl.recordBack(&o)
	return o
}

// superseded is the revision before; nil where there is none.
func (st *step) superseded(ctx context.Context, pl *planned) (*render.RecordInfo, error) {
	if pl.before == 0 {
		return nil, nil //nolint:nilnil // There is none.
	}
	return st.release(ctx, pl.in.home, pl.before)
}

// writeRecord of a new revision.
func (st *step) writeRecord(ctx context.Context, pl *planned, o render.RecordOptions) error {
	s, err := pl.rendered.Record(o)
	if err != nil {
		return err
	}
	err = st.WriteSecret(ctx, s, !pl.first, !pl.in.keepNamespaces)
	if pl.first && kerrors.IsAlreadyExists(err) {
		if err := st.lookForRelease(ctx, pl); err != nil {
			return err
		}
		return errors.Errorf("release %s has a record already; it is followed in the next step", pl.in.home.Name)
	}
	return errors.Wrapf(err, "cannot record revision %d of release %s", o.Revision, pl.in.home.Name)
}

// retire the revision before, and delete those that became too old to be kept.
func (st *step) retire(ctx context.Context, pl *planned, superseded *render.RecordInfo) error {
	h := pl.in.home
	if superseded != nil && superseded.Status == statusDeployed {
		if err := st.supersede(ctx, superseded); err != nil {
			return errors.Wrapf(err, "cannot mark revision %d of release %s as superseded", pl.before, h.Name)
		}
	}
	// Between two that were deployed there may be some that failed.
	for old := max(pl.before+1-st.e.history, 1); old <= pl.next-st.e.history; old++ {
		if old == pl.before {
			continue
		}
		k := cluster.ObjectRef{Kind: "Secret", Namespace: h.Namespace, Name: render.RecordName(h.Name, old)}
		if _, err := st.Delete(ctx, ssa.SecretKind, k, ""); err != nil {
			return err
		}
	}
	return nil
}

// release is one recorded revision; nil where there is none.
func (w *work) release(ctx context.Context, h inventory.Release, revision int) (*render.RecordInfo, error) {
	b, err := w.Read(ctx, ssa.SecretKind, cluster.ObjectRef{Kind: "Secret", Namespace: h.Namespace, Name: render.RecordName(h.Name, revision)}, ssa.JSON)
	if err != nil || b == nil {
		return nil, err
	}
	s := &corev1.Secret{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, errors.Wrapf(err, "record of release %s revision %d", h.Name, revision)
	}
	info, err := render.DecodeRecord(s.Data["release"])
	if err != nil {
		return nil, &refusedError{errors.Wrapf(err, "record of release %s revision %d", h.Name, revision)}
	}
	// Without them the record would no longer be known as ours once it is superseded.
	info.Labels = s.Labels
	return info, nil
}

// supersede a recorded revision. One that is gone meanwhile stays away.
func (w *work) supersede(ctx context.Context, i *render.RecordInfo) error {
	s, err := i.WithStatus(statusSuperseded)
	if err != nil {
		return err
	}
	if err := w.SendSecret(ctx, http.MethodPut, s); !notfound.Is(err) {
		return ssa.Explain(err)
	}
	return nil
}

// deleteReleases of a part: all recorded revisions. There may be one that the inventory does not know, of a step that was
// cut off.
func (w *work) deleteReleases(ctx context.Context, name string, rec inventory.Part) error {
	for _, h := range []inventory.Release{rec.FormerReleaseOf(name), rec.ReleaseOf(name)} {
		if h.IsZero() {
			continue
		}
		if err := w.deleteRecords(ctx, h, (w.s.Adopt || rec.Own) && rec.Revision > 0); err != nil {
			return err
		}
	}
	return nil
}

// abandon the homes that releases never arrived at, before the inventory forgets them.
func (st *step) abandon(ctx context.Context) {
	st.plans = slices.DeleteFunc(st.plans, func(pl *planned) bool {
		if pl.abandoned.IsZero() {
			return false
		}
		err := st.deleteRecords(ctx, pl.abandoned, false)
		if err != nil {
			st.fail(pl.name, err)
			st.unplanned = true
		}
		return err != nil
	})
}

// deleteRecords of a release: ours, or with all those that others wrote before it was adopted, too.
func (w *work) deleteRecords(ctx context.Context, h inventory.Release, all bool) error {
	selector := "owner=helm,name=" + h.Name
	if !all {
		selector += "," + labelReleaseOf + "=" + w.id
	}
	err := w.DeleteSecrets(ctx, h.Namespace, selector)
	return errors.Wrapf(err, "cannot delete the records of release %s in namespace %s", h.Name, h.Namespace)
}
