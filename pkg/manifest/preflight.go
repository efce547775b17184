// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/crdcheck"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// preflight looks at each definition that is there and is about to change, before anything of the set is applied. Where
// one is refused nothing is applied but what puts right what was applied before: a module is not left between two versions.
// Where no definition changes, nothing is asked.
func (st *step) preflight(ctx context.Context) {
	idx := st.inv.Index()
	refused := ""
	for _, pl := range st.plans {
		for i := range pl.objects {
			o := &pl.objects[i]
			if o.Stage != object.StageCRDs || !st.redefines(o, idx[o.Ref]) {
				continue
			}
			err := st.redefine(ctx, o, idx[o.Ref])
			switch {
			case err == nil:
			case pl.repair:
				st.spare(o, err)
			default:
				st.fail(pl.name, errors.Wrap(err, o.Ref.String()))
				refused = cmp.Or(refused, fmt.Sprintf("%s of %s", o.Ref, pl.title()))
			}
		}
	}
	if refused == "" {
		return
	}
	// What cannot be applied may want objects that the inventory does not know of.
	st.unplanned = true
	st.plans = slices.DeleteFunc(st.plans, func(pl *planned) bool { return st.heldBack(pl, refused) })
}

// redefines says whether a definition is there, and is about to be another one.
func (st *step) redefines(o *object.Desired, en *inventory.Entry) bool {
	if en != nil && en.UID != "" {
		return en.Intent != o.Hash || st.repairs(o.Ref)
	}
	// It may be there from a step that was cut off, from a set whose inventory was lost, or from somebody else.
	_, known := st.known[o.Ref]
	if !known {
		_, known = st.c.Cache().Get(o.Ref)
	}
	return known || st.s.Adopt
}

// A spared definition is one that somebody changed, and why it cannot be put back now. All else of its part is.
type spared struct {
	key  cluster.ObjectRef
	part string
	err  error
}

func (st *step) spare(o *object.Desired, err error) {
	st.spared = append(st.spared, spared{key: o.Ref, part: o.Part, err: errors.Wrapf(err, "%s: was changed, and is not put back", o.Ref)})
}

func (st *step) spares(k cluster.ObjectRef) bool {
	return slices.ContainsFunc(st.spared, func(s spared) bool { return s.key == k })
}

// failSpared are the parts with definitions that are spared. It comes last, as nothing else of them is held back.
func (st *step) failSpared() {
	for i := range st.spared {
		st.fail(st.spared[i].part, st.spared[i].err)
	}
}

// heldBack says whether a part is not applied because of a definition that is refused. What is only put back was applied
// before, and works with the definitions that are there.
func (st *step) heldBack(pl *planned, refused string) bool {
	if pl.repair {
		return false
	}
	if st.errs[pl.name] == nil {
		if st.held == nil {
			st.held = map[string]bool{}
		}
		st.held[pl.name] = true
		st.noteWaiting(fmt.Sprintf("%s waits until %s can be applied", pl.title(), refused))
	}
	return true
}

// redefine says in an error why a definition that is there cannot become another one, or must not.
func (w *work) redefine(ctx context.Context, o *object.Desired, en *inventory.Entry) error {
	live, err := w.Get(ctx, o.GVK(), o.Ref)
	if err != nil || live == nil || live.GetDeletionTimestamp() != nil {
		return err
	}
	if en == nil {
		en = &inventory.Entry{}
	}
	if err := w.mayChange(ctx, o, en, metadataOf(live)); err != nil {
		// It is not ours. Who applies it says so.
		return nil //nolint:nilerr // See above.
	}
	next := &unstructured.Unstructured{Object: o.Content()}
	if err := crdcheck.Replaceable(live, next); err != nil {
		return err
	}
	// Fields of others, and those that are set by default, are part of what it will be.
	after, err := w.DryRun(ctx, o, false)
	switch {
	case err == nil:
		next = after
	case !untried(err):
		return ssa.Explain(err)
	}
	return w.examineAll(ctx, live, next)
}

// found says in an error why a definition must not be changed that nobody knew of before it was to be created: one that
// was kept, in most cases. With adoption it was looked at before.
func (st *step) found(ctx context.Context, o *object.Desired, en *inventory.Entry) error {
	if o.Stage != object.StageCRDs || st.s.Adopt {
		return nil
	}
	return errors.Wrap(st.redefine(ctx, o, en), o.Ref.String())
}

// examineAll objects of a definition for which a new one makes a difference.
func (w *work) examineAll(ctx context.Context, live, next *unstructured.Unstructured) error {
	checks, err := crdcheck.Checks(live, next)
	if err != nil {
		return err
	}
	for _, c := range checks {
		if err := w.examine(ctx, live, c); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of the look at live objects: how many are read at a time, and how many are named.
const (
	pageSize  = 100
	mostNamed = 5
)

// A finding is what was seen of the objects of a definition in one version.
type finding struct {
	all, bad int
	// named are the first ones that are bad.
	named []string
}

// take the objects of a page. They are read one after the other, as they may be large, and take much more in memory than
// on the wire.
func (f *finding) take(ctx context.Context, gvk schema.GroupVersionKind, items []json.RawMessage, c *crdcheck.Check) error {
	for i := range items {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		// This one keeps whole numbers whole.
		if err := kjson.Unmarshal(items[i], &u.Object); err != nil {
			return errors.Wrap(err, "cannot read the list")
		}
		u.SetGroupVersionKind(gvk)
		f.all++
		problems := c.Object(ctx, u)
		if len(problems) == 0 {
			continue
		}
		f.bad++
		if len(f.named) < mostNamed {
			k := cluster.ObjectRef{Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
			f.named = append(f.named, fmt.Sprintf("%s (%s)", k, strings.Join(problems, "; ")))
		}
	}
	return context.Cause(ctx)
}

// examine all objects of a definition in one version. The error names those that would be invalid.
func (w *work) examine(ctx context.Context, crd *unstructured.Unstructured, c *crdcheck.Check) error {
	gvk, m, ok := kindIn(crd, c.Version)
	if !ok {
		return nil
	}
	f := finding{}
	for token := ""; ; {
		l, err := w.page(ctx, gvk, m, token)
		switch {
		case kerrors.IsResourceExpired(err) && ctx.Err() == nil:
			// The look took so long that what it looks at is gone. It begins again, with what is there now.
			token, f = "", finding{}
			continue
		case err != nil:
			gone, err := w.Absent(ctx, gvk, m, "", err)
			if gone {
				return nil
			}
			return errors.Wrapf(ssa.Explain(err), "cannot look at the objects of kind %s", gvk.Kind)
		}
		if err := f.take(ctx, gvk, l.Items, c); err != nil {
			return err
		}
		if token = l.Metadata.Continue; token == "" {
			break
		}
	}
	if f.bad == 0 {
		return nil
	}
	return errors.Errorf("%d of %d objects would be invalid with the new definition in version %s: %s; change them first",
		f.bad, f.all, c.Version, text.Some(f.named, int64(f.bad)))
}

// A pageOf objects, which are not read yet.
type pageOf struct {
	Metadata metav1.ListMeta   `json:"metadata"`
	Items    []json.RawMessage `json:"items"`
}

// page of the objects of a kind. Kind and path are those of a definition, as no discovery may know this version.
func (w *work) page(ctx context.Context, gvk schema.GroupVersionKind, m cluster.Mapping, token string) (*pageOf, error) {
	l := &pageOf{}
	err := w.ListJSON(ctx, gvk, m, "", map[string]string{"limit": strconv.Itoa(pageSize), "continue": token}, l)
	return l, err
}

// kindIn one version of a definition; false if it is not served.
func kindIn(crd *unstructured.Unstructured, version string) (schema.GroupVersionKind, cluster.Mapping, bool) {
	for gvk, m := range kindsOf(crd) {
		if gvk.Version == version {
			return gvk, m, true
		}
	}
	return schema.GroupVersionKind{}, cluster.Mapping{}, false
}
