// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// goodKey is the key of the parent Secret's data that holds Set.Good, and parentLimit what all data may have in bytes:
// the rest is for what the API server needs.
const (
	goodKey     = "good"
	parentLimit = corev1.MaxSecretSize * 9 / 10
)

// wantedGood is what is to be kept once the set is Ready; nil where that is nothing, or too large.
func (w *work) wantedGood() []byte {
	if len(w.s.Good) == 0 || !w.fits(w.s.Good) {
		return nil
	}
	return w.s.Good
}

// fits says whether the parent has room beside the inventory.
func (w *work) fits(good []byte) bool {
	return len(good)+w.mem.size <= parentLimit
}

// keeps says whether something else is to be kept than what is.
func (w *work) keeps(inv *inventory.Inventory) bool {
	return !bytes.Equal(inv.Good, w.wantedGood())
}

// seeGood says what is kept. A set that is Ready is not up to date until it is what is kept.
func (w *work) seeGood(inv *inventory.Inventory, o *Observation) {
	o.Good = inv.Good
	if len(w.s.Good) > 0 && !w.fits(w.s.Good) {
		o.NotKept = fmt.Sprintf("what is needed to go back to this state has %d bytes compressed, and there is no room for it in %s "+
			"beside the inventory of %d bytes, which together may have %d", len(w.s.Good), w.parentKey(), w.mem.size, parentLimit)
	}
	if o.State == Ready && o.UpToDate && w.keeps(inv) {
		o.UpToDate = false
	}
}

// keepGood what describes the set, if it is Ready with these very inputs.
func (st *step) keepGood(ctx context.Context, was *inventory.Inventory) error {
	if was == nil || !st.keeps(was) {
		return nil
	}
	o, err := st.judgeAll(ctx, was, st.known)
	if err != nil || o.State != Ready || !o.UpToDate {
		return err
	}
	st.inv.Good, st.write = st.wantedGood(), true
	return nil
}

// goBack finds the revision that was installed with the inputs of a part, for a set that is rolled back. A chart that
// renders differently each time, with random values, say, gets the objects of then, as with helm rollback.
func (w *work) goBack(ctx context.Context, pl *planned, pure bool) error {
	h := pl.in.home
	l, err := w.List(ctx, ssa.SecretKind, h.Namespace, fmt.Sprintf("owner=helm,name=%s,status in (deployed,superseded),%s=%s,%s=%s",
		h.Name, labelReleaseOf, w.id, labelInputs, pl.digest), 0)
	if err != nil {
		return errors.Wrapf(err, "cannot look for the revisions of release %s in namespace %s", h.Name, h.Namespace)
	}
	for i := range l.Items {
		if n, err := strconv.Atoi(l.Items[i].Labels[labelRevision]); err == nil {
			pl.backTo = max(pl.backTo, n)
		}
	}
	if pl.backTo == 0 || pure {
		return nil
	}
	info, err := w.release(ctx, h, pl.backTo)
	if err != nil || info == nil {
		return err
	}
	pl.backManifest = info.Manifest
	return nil
}

// recordBack says in the record of a revision which one it goes back to, in Helm's words.
func (pl *planned) recordBack(o *render.RecordOptions) {
	if pl.backTo == 0 {
		return
	}
	o.Description = fmt.Sprintf("Rollback to %d", pl.backTo)
	o.Manifest = pl.backManifest
}
