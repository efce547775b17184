// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// Finish completes a revision: it deletes the records of the former release of a part, deletes the objects of an adopted release
// that the installation no longer contains, and records in the cluster and in the record of the part that the revision is
// deployed. It returns the deleted objects, even with an error. It deletes them before it writes the record, so that the call
// after an interrupted one finds them again.
func (h History) Finish(ctx context.Context, i *NewRevision, rec *inventory.Part, has Has) ([]cluster.ObjectRef, error) {
	if err := h.EndFormer(ctx, i.Desired.Part, rec); err != nil {
		return nil, err
	}
	before, err := h.Before(ctx, i)
	if err != nil {
		return nil, err
	}
	pruned, err := h.PruneFormer(ctx, i, before, has)
	if err != nil {
		return pruned, err
	}
	return pruned, h.WriteDeployed(ctx, i, before, rec)
}

// EndFormer deletes the records of the release that a part had before it moved, if any, and removes that release from the record
// of the part.
func (h History) EndFormer(ctx context.Context, part object.PartID, rec *inventory.Part) error {
	former := rec.FormerReleaseOf(part)
	if former.IsZero() {
		return nil
	}
	if err := h.Delete(ctx, former); err != nil {
		return err
	}
	rec.Former, rec.FormerRelease = "", ""
	return nil
}

// Before returns the record of the previously deployed revision, or nil if there is none.
func (h History) Before(ctx context.Context, i *NewRevision) (*record.Info, error) {
	if i.Next.Before == 0 {
		return nil, nil //nolint:nilnil // There is none, as documented.
	}
	return h.Get(ctx, i.Desired.Release, i.Next.Before)
}

// WritePending records that the installation of a revision has started. Call it before its first hook runs.
func (h History) WritePending(ctx context.Context, i *NewRevision) error {
	before, err := h.Before(ctx, i)
	if err != nil {
		return err
	}
	return h.write(ctx, i, i.pending(h.Set, i.firstDeployed(before)))
}

// WriteDeployed records that a revision is deployed, marks all others as superseded, and deletes the revisions beyond Keep.
// If the objects of the revision come from its record, only its status and description change. Before is the record of the previous
// revision, or nil. If WriteDeployed succeeds, it also updates the record of the part.
func (h History) WriteDeployed(ctx context.Context, i *NewRevision, before *record.Info, rec *inventory.Part) error {
	if err := h.writeDeployed(ctx, i, i.record(h.Set, i.firstDeployed(before)), rec.Run); err != nil {
		return err
	}
	r := i.Desired.Release
	if err := h.supersedeAll(ctx, i, before); err != nil {
		return err
	}
	for _, old := range outdated(i.Next.Before, i.Next.Number, h.Keep) {
		if _, err := h.Client.Delete(ctx, ssa.SecretKind, recordOf(r, old), ""); err != nil {
			return err
		}
	}
	i.note(rec)
	return nil
}

// writeDeployed writes the record of a deployed revision. Last is the recorded run of hooks, which may belong to a revision that
// is replaced.
func (h History) writeDeployed(ctx context.Context, i *NewRevision, o record.Options, last *inventory.Run) error {
	if i.keepsRecord() {
		if found, err := h.Describe(ctx, i.Desired.Release, o.Revision, o.Status, o.Description); found || err != nil {
			return err
		}
	}
	if i.Run == nil {
		if err := h.CutShort(ctx, i, last); err != nil {
			return err
		}
	}
	return h.write(ctx, i, o)
}

// CutShort marks the revision of a run as failed because another revision replaces it. The run may be nil, or that of this revision, which
// another process may have completed.
func (h History) CutShort(ctx context.Context, i *NewRevision, run *inventory.Run) error {
	if run == nil || !run.Recorded || run.Failed != "" || run.Revision == i.Next.Number {
		return nil
	}
	_, err := h.Describe(ctx, i.Desired.Release, run.Revision, record.StatusFailed, "Replaced by a newer version while its hooks ran")
	return err
}

// write writes the record of a revision. It creates a missing namespace if i.CreateNamespace is true and i.OwnNamespace is false.
func (h History) write(ctx context.Context, i *NewRevision, o record.Options) error {
	s, err := i.Rendered.Draft.Encode(o)
	if err != nil {
		return err
	}
	err = h.create(ctx, i, s)
	switch {
	case !kerrors.IsAlreadyExists(err):
	case i.Next.Unsearched && !i.hasRecord():
		return h.refuse(ctx, i)
	default:
		// An interrupted call wrote the record of this revision, or another process that meanwhile did this step.
		err = h.overwrite(ctx, s)
	}
	return errors.Wrapf(err, "cannot record revision %d of release %s", o.Revision, i.Desired.Release.Name)
}

// overwrite replaces the record of a revision. It finds out the version of the record before it confirms that no other process works on the
// release: a record that another process writes afterwards is not replaced.
func (h History) overwrite(ctx context.Context, s *corev1.Secret) error {
	m, err := h.Client.Metadata(ctx, ssa.SecretKind, cluster.ObjectRef{Kind: ssa.SecretKind.Kind, Namespace: s.Namespace, Name: s.Name})
	if err != nil {
		return err
	}
	if m == nil {
		return errors.New("another client deleted the record at the same time")
	}
	if err := h.confirm(ctx); err != nil {
		return err
	}
	s.ResourceVersion = m.ResourceVersion
	return ssa.Explain(h.Client.SendSecret(ctx, http.MethodPut, s))
}

// create creates the record of a revision.
func (h History) create(ctx context.Context, i *NewRevision, s *corev1.Secret) error {
	if !i.OwnNamespace {
		return h.Client.CreateSecret(ctx, s, i.CreateNamespace)
	}
	err := h.Client.SendSecret(ctx, http.MethodPost, s)
	if ssa.IsNamespaceMissing(err, s.Namespace) {
		return &ssa.OwnNamespaceError{Namespace: s.Namespace}
	}
	return ssa.Explain(err)
}

func (h History) confirm(ctx context.Context) error {
	if h.Confirm == nil {
		return nil
	}
	return h.Confirm(ctx)
}

// refuse returns the error for a release that exists unexpectedly and that this step therefore does not follow.
func (h History) refuse(ctx context.Context, i *NewRevision) error {
	found, err := h.List(ctx, i.Desired.Release)
	if err != nil {
		return err
	}
	if err := i.Desired.mayFollow(found); err != nil {
		return err
	}
	return errors.Errorf("release %s already has a record; the next attempt continues from it", i.Desired.Release.Name)
}

// supersedeAll marks the other revisions that are recorded as deployed as superseded. Before is the record of the previous one, or nil.
func (h History) supersedeAll(ctx context.Context, i *NewRevision, before *record.Info) error {
	r := i.Desired.Release
	if err := h.supersede(ctx, before); err != nil {
		return errors.Wrapf(err, "cannot mark revision %d of release %s as superseded", i.Next.Before, r.Name)
	}
	numbers, err := h.stale(ctx, i)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		stale, err := h.Get(ctx, r, number)
		if err == nil {
			// Another process may have deployed it meanwhile.
			err = h.confirm(ctx)
		}
		if err == nil {
			err = h.supersede(ctx, stale)
		}
		if err != nil {
			return errors.Wrapf(err, "cannot mark revision %d of release %s as superseded", number, r.Name)
		}
	}
	return nil
}

// stale returns the other revisions that are recorded as deployed. If the hooks of the revision, or of one that it replaces, began in an
// earlier call, it searches for them: the inventory does not contain a revision whose call was interrupted after it recorded it as deployed.
func (h History) stale(ctx context.Context, i *NewRevision) ([]int, error) {
	if i.Next.State != Resumes && !i.Next.Replaces || len(i.Next.Stale) > 0 {
		return i.Next.Stale, nil
	}
	found, err := h.List(ctx, i.Desired.Release)
	if err != nil {
		return nil, err
	}
	return staleOf(&i.Next, slices.DeleteFunc(found, func(r Revision) bool { return !r.Ours })), nil
}

// supersede marks a recorded revision as superseded if it is recorded as deployed. It does not recreate a deleted record.
func (h History) supersede(ctx context.Context, i *record.Info) error {
	if i == nil || i.Status != record.StatusDeployed {
		return nil
	}
	s, err := i.WithStatus(record.StatusSuperseded)
	if err != nil {
		return err
	}
	_, err = h.replace(ctx, s)
	return err
}

// replace replaces the record of a revision. It reports false if the record does not exist.
func (h History) replace(ctx context.Context, s *corev1.Secret) (bool, error) {
	gone, err := h.Client.IsSecretAbsent(ctx, s.Name, h.Client.SendSecret(ctx, http.MethodPut, s))
	return !gone, ssa.Explain(err)
}
