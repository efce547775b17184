// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// claim an object that exists. It may be ours from a step that was cut off, or ours without its label; any other object
// is taken over only if that was asked for.
func (w *work) claim(ctx context.Context, o *object.Desired, en *inventory.Entry, m *metav1.PartialObjectMetadata) error {
	if m == nil || w.adoptsFrom(o.Part, m.Labels[object.LabelPartOf]) {
		return nil
	}
	owner := m.Labels[object.LabelPartOf]
	switch {
	case owner == w.id:
		return nil
	case owner != "":
		if name := w.ownerOf(ctx, owner); name != "" {
			return errors.Errorf("exists and belongs to %s; remove it there, or set adopt to take it over", name)
		}
		return errors.Errorf("exists and belongs to another set of objects (label %s: %s); "+
			"remove it there, or set adopt to take it over", object.LabelPartOf, owner)
	case en.UID != "" && en.UID == string(m.UID):
		return nil
	case o.Stage == object.StageResource:
		return errors.New("exists and does not belong to this module; set adopt to take it over, or customResourcePolicy to Ignore")
	}
	return errors.New("exists and does not belong to this module; remove it, or set adopt to take it over")
}

// ownerOf a set, as its inventory names it; empty where there is no inventory of that ID in the namespace of ours, or it
// cannot be read. What is known is not asked for again in a step.
func (w *work) ownerOf(ctx context.Context, id string) string {
	w.owners.Lock()
	defer w.owners.Unlock()
	if name, ok := w.owners.by[id]; ok {
		return name
	}
	name := ""
	if l, err := w.List(ctx, ssa.SecretKind, w.e.namespace, object.LabelApplySetID+"="+id, 1); err == nil && len(l.Items) > 0 {
		name = text.OneLine(l.Items[0].Annotations[annotationOwner])
	}
	if w.owners.by == nil {
		w.owners.by = map[string]string{}
	}
	w.owners.by[id] = name
	return name
}

// follow the last revision of the release of an install: ours, or with adoption that of somebody else. A release of the
// same name that is not of this set is refused. The first time it is not looked for: there hardly ever is one, its
// objects would be in the way, and so would its record, in which case the next step finds it here.
func (w *work) follow(ctx context.Context, pl *planned) error {
	err := w.precede(ctx, pl)
	run := pl.rec.Run
	switch {
	case !pl.repair && pl.rec.Resumes(pl.digest, w.s.Retry):
		pl.next, pl.before = run.Revision, run.Before
	case !pl.repair && run != nil && run.Recorded:
		pl.next = max(pl.before, pl.last, run.Revision) + 1
	case !pl.repair && run != nil:
		// It may have its record, and only nobody wrote that down any more.
		pl.next = max(max(pl.before, pl.last)+1, run.Revision)
	default:
		pl.next = max(pl.before, pl.last) + 1
	}
	return err
}

// precede finds the revision that is followed.
func (w *work) precede(ctx context.Context, pl *planned) error {
	rec := &pl.rec
	have, former, want := rec.ReleaseOf(pl.name), rec.FormerReleaseOf(pl.name), pl.in.home
	pl.first = have.IsZero() && former.IsZero() && !w.adopts(pl.name)
	switch {
	case pl.repair:
		pl.before = max(rec.Revision-1, 0)
		return nil
	case rec.Revision > 0 && have == want:
		pl.before = rec.Revision
		return nil
	}
	if have != want {
		former, pl.abandoned = departure(have, former, want)
		rec.Run, rec.Origin = nil, 0
	}
	rec.MoveRelease(pl.name, former, want)
	rec.Revision = 0
	if pl.first || want.IsZero() {
		return nil
	}
	return w.lookForRelease(ctx, pl)
}

// departure is where a release that moves comes from. A release cannot move: it ends in one place and begins in the other,
// or nowhere where plain objects take over. One that moves on before it arrived still comes from where it was deployed, and
// where it was to go is abandoned.
func departure(have, former, want inventory.Release) (from, abandoned inventory.Release) {
	if former.IsZero() || former == want {
		return have, inventory.Release{}
	}
	return former, have
}

// deployedOnce says whether a revision of this status was in use; one whose hooks failed or still run never was.
func deployedOnce(status string) bool {
	return status == "" || status == statusDeployed || status == statusSuperseded
}

// lookForRelease where an install has its own.
func (w *work) lookForRelease(ctx context.Context, pl *planned) error {
	h := pl.in.home
	l, err := w.List(ctx, ssa.SecretKind, h.Namespace, "owner=helm,name="+h.Name, 0)
	if err != nil {
		return errors.Wrapf(err, "cannot look for a Helm release %s in namespace %s", h.Name, h.Namespace)
	}
	for i := range l.Items {
		m := &l.Items[i]
		if !strings.HasPrefix(m.Name, releasePrefix) {
			continue
		}
		if m.Labels[labelReleaseOf] != w.id && !w.adoptsFrom(pl.name, m.Labels[labelReleaseOf]) {
			return errors.Errorf("a Helm release %s exists in namespace %s and does not belong to this module; "+
				"uninstall it, or set adopt to take it over", h.Name, h.Namespace)
		}
		pl.count(m.Labels, m.Labels[labelReleaseOf] == w.id)
	}
	return nil
}

// count a recorded revision among those before.
func (pl *planned) count(labels map[string]string, ours bool) {
	n, err := strconv.Atoi(labels[labelRevision])
	if err != nil {
		return
	}
	status := labels[labelStatus]
	if ours && labels[labelInputs] == pl.digest && status != render.StatusFailed {
		// It was recorded by a step that was cut off right after it, or the inventory was lost.
		pl.last = max(pl.last, n-1)
		pl.settled = pl.settled || status == statusDeployed
		return
	}
	pl.last = max(pl.last, n)
	if !ours || deployedOnce(status) {
		pl.before = max(pl.before, n)
	}
}
