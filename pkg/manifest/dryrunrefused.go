// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fixed"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// untried says whether a dry run failed because something on the way has no dry runs: an admission webhook with side
// effects. To apply may work.
func untried(err error) bool {
	return kerrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run")
}

// fingerprint of all that a plan is made of, as far as it is known without a request.
func (st *step) fingerprint(was *inventory.Inventory) string {
	h := sha256.New()
	line := func(v ...any) { fmt.Fprintln(h, v...) }
	line(st.id, st.s.Adopt, st.s.Recreate, st.s.Drift, st.s.RollingBack, st.s.Retry, was != nil, st.mem.version)
	for i := range st.parts {
		line(st.parts[i].name, st.parts[i].digest)
	}
	drifted := make([]string, 0, len(st.drift))
	for k := range st.drift {
		sum, exists := st.known[k]
		drifted = append(drifted, fmt.Sprint(k, exists, sum.ResourceVersion))
	}
	slices.Sort(drifted)
	line(drifted)
	// Whether an object is there, and whose it is, decides how it is tried.
	for i := range st.inv.Objects {
		sum, exists := st.known[st.inv.Objects[i].Ref()]
		line(exists, sum.UID, sum.Set, sum.Status == cluster.Terminating)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fieldNames are the names of fields that cannot be changed, as the API server names them.
func fieldNames(fields []fixed.Field) []string {
	out := make([]string, 0, len(fields))
	for _, f := range fields {
		out = append(out, f.Name)
	}
	return out
}

// hooksToRun of a planned chart that would be run.
func (w *work) hooksToRun(pl *planned) int {
	if pl.hooks == nil {
		return 0
	}
	pre, post := w.hookEvents(pl)
	return len(ordered(pl.hooks, pre)) + len(ordered(pl.hooks, post))
}

// pruneFormers are the objects of releases that are taken over, and that go with that. An error is returned where the
// cluster cannot be asked at all.
func (d *dryRunner) pruneFormers(ctx context.Context) error {
	for _, pl := range d.plans {
		if pl.rendered == nil || pl.repair || pl.rec.Revision > 0 || !d.adopts(pl.name) || d.errs[pl.name] != nil {
			continue
		}
		before, err := d.superseded(ctx, pl)
		if err == nil {
			err = d.formerMembers(ctx, pl, before, func(u *unstructured.Unstructured, _ *metav1.PartialObjectMetadata) error {
				d.out.Changes = append(d.out.Changes, PlannedChange{Key: object.RefOf(u), Action: ActionPrune})
				return nil
			})
		}
		if err != nil && !answered(err) {
			return err
		}
		if err != nil {
			d.problem(pl.name, err)
		}
	}
	return nil
}
