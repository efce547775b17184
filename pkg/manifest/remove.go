// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A Removal says how far the removal of a set has come.
type Removal struct {
	// Gone says that nothing is left, the inventory included.
	Gone bool
	// State is Deleting, or Warning where somebody has to do something; Message is what is waited for.
	State   State
	Message string
	// Kept are the objects that this call let go instead of deleting them, as their annotation helm.sh/resource-policy asks
	// for, and those that they cannot be without.
	Kept []cluster.ObjectRef
	// LeftBehind are the objects that this call found not to be those that were applied, and left as they are.
	LeftBehind []cluster.ObjectRef
	// HookFailed says why a hook of a chart failed after the objects were gone. It blocks nothing, and is said with Gone.
	HookFailed string
	// Forced are the objects of others that this call deleted, as Set.ForceRemoval asks for.
	Forced []cluster.ObjectRef
}

// Remove does the next step towards a cluster without the set. The custom resource goes first; then all custom
// resources of the set's own kinds must be gone, while what serves them still runs; then the rest in reverse order,
// definitions and namespaces last. Each object is waited for before what came before it goes. Of the set only the names
// are used, so that it can be removed when its sources cannot be resolved any more. What another owner has is not removed,
// whether the set adopts or not: the error is an *OwnedError then.
func (e *Engine) Remove(ctx context.Context, c cluster.Cluster, s *Set) (Removal, error) {
	w, err := e.outline(ctx, c, s)
	if err != nil {
		return Removal{}, err
	}
	defer w.end()
	inv, err := w.loadOwn(ctx)
	if err != nil {
		return Removal{}, err
	}
	if inv == nil {
		return Removal{Gone: true}, nil
	}
	known, err := w.look(ctx, inv)
	if err != nil {
		return Removal{}, err
	}
	all := make([]*inventory.Entry, 0, len(inv.Objects))
	for i := range inv.Objects {
		all = append(all, &inv.Objects[i])
	}
	r := remover{work: w, known: known, whole: true, leaving: w.leavingAll(inv)}
	left, err := r.remove(ctx, all)
	left.Kept, left.LeftBehind = r.kept, r.left
	if err != nil || left.Message != "" {
		return left, err
	}
	for _, name := range slices.Sorted(maps.Keys(inv.Parts)) {
		if err := w.deleteReleases(ctx, name, inv.Parts[name]); err != nil {
			return left, err
		}
	}
	if _, err := w.Delete(ctx, ssa.SecretKind, w.parentKey(), ""); err != nil {
		return left, errors.Wrap(err, "cannot delete the inventory")
	}
	w.c.Cache().Forget(w.parentKey())
	e.Forget(c, s)
	left.Gone, left.HookFailed = true, r.leaving.failed
	return left, nil
}

// A remover takes objects of one set away.
type remover struct {
	*work

	known map[cluster.ObjectRef]cluster.ObjectState
	// whole says that nothing of the set stays.
	whole bool
	gone  map[cluster.ObjectRef]bool
	// kept are those that were let go, and left those that are not ours.
	kept, left []cluster.ObjectRef
	// leaving are the installs whose hooks run; nil for none.
	leaving *leaving
}

// remove objects as far as possible. The message says what is waited for; it is empty once all are gone.
func (r *remover) remove(ctx context.Context, unwanted []*inventory.Entry) (Removal, error) {
	r.gone = make(map[cluster.ObjectRef]bool, len(unwanted))
	if err := r.confirm(ctx, unwanted); err != nil {
		return Removal{}, err
	}
	if err := r.keepAll(ctx, unwanted); err != nil {
		return Removal{}, err
	}
	defined, err := r.defined(ctx, unwanted)
	if err != nil {
		return Removal{}, err
	}
	strangers := func() (Removal, error) { return r.strangers(ctx, defined) }
	// What serves the custom resources must outlive them, as only it can take their finalizers away.
	steps := []func() (Removal, error){func() (Removal, error) {
		return r.removeAll(ctx, filter(unwanted, func(e *inventory.Entry) bool {
			_, own := defined[e.Ref().GroupKind()]
			return e.Stage == object.StageResource || own
		}))
	}}
	if r.whole {
		steps = append(steps, strangers)
	}
	steps = append(steps, func() (Removal, error) { return r.deleteHooks(ctx, eventPreDelete) })
	for _, s := range slices.Backward(object.Stages) {
		if s == object.StageCRDs {
			// Hooks may need the definitions, and the namespace that they are in.
			steps = append(steps, func() (Removal, error) { return r.deleteHooks(ctx, eventPostDelete) }, strangers)
		}
		steps = append(steps, func() (Removal, error) { return r.removeStage(ctx, s, unwanted) })
	}
	for _, step := range steps {
		if left, err := step(); err != nil || left.Message != "" {
			return left, err
		}
	}
	return Removal{}, nil
}

// removeStage takes away the objects of one stage, part by part in reverse order.
func (r *remover) removeStage(ctx context.Context, s object.Stage, unwanted []*inventory.Entry) (Removal, error) {
	group := filter(unwanted, func(e *inventory.Entry) bool { return e.Stage == s })
	for _, part := range slices.Backward(r.partOrder(group)) {
		left, err := r.removeAll(ctx, filter(group, func(e *inventory.Entry) bool { return e.Part == part }))
		if err != nil || left.Message != "" {
			return left, err
		}
	}
	return Removal{}, nil
}

func filter(entries []*inventory.Entry, keep func(e *inventory.Entry) bool) []*inventory.Entry {
	var out []*inventory.Entry
	for _, e := range entries {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

// partOrder is the order in which parts are applied; parts that are no longer in the set come last.
func (r *remover) partOrder(entries []*inventory.Entry) []string {
	var out []string
	for i := range r.parts {
		out = append(out, r.parts[i].name)
	}
	for _, e := range entries {
		if !slices.Contains(out, e.Part) {
			out = append(out, e.Part)
		}
	}
	return out
}

// removeAll objects of a group, and say what is left.
func (r *remover) removeAll(ctx context.Context, group []*inventory.Entry) (Removal, error) {
	left := Removal{}
	count := 0
	for _, e := range group {
		message, err := r.removeOne(ctx, e)
		if err != nil {
			return Removal{}, err
		}
		if message == "" {
			r.gone[e.Ref()] = true
			continue
		}
		count++
		if left.Message == "" {
			left = Removal{State: Deleting, Message: e.Ref().String() + ": " + message}
		}
	}
	if count > 1 {
		left.Message += fmt.Sprintf(" (and %d more)", count-1)
	}
	return left, nil
}

// removeOne object, unless it is gone or no longer ours. It returns what the object waits for.
func (r *remover) removeOne(ctx context.Context, e *inventory.Entry) (string, error) {
	k := e.Ref()
	sum, exists, err := r.last(ctx, e)
	if err != nil || !exists || sum.Set != r.id || r.gone[k] {
		return "", err
	}
	if sum.Status == cluster.Terminating {
		return cmp.Or(sum.Message, "is being deleted"), nil
	}
	left, err := r.Delete(ctx, e.GVK(), k, sum.UID)
	if kerrors.IsConflict(err) {
		return r.replaced(ctx, e)
	}
	if err != nil {
		return "", err
	}
	if left != nil {
		s := health.MetadataStateOf(left)
		r.c.Cache().Put(k, s)
		return s.Message, nil
	}
	delete(r.known, k)
	r.c.Cache().Forget(k)
	r.settled(e)
	return "", nil
}

// replaced object: somebody put another one in its place. Whether that one is ours is seen in the next step.
func (r *remover) replaced(ctx context.Context, e *inventory.Entry) (string, error) {
	k := e.Ref()
	m, err := r.Metadata(ctx, e.GVK(), k)
	if err != nil || m == nil {
		return "", err
	}
	r.c.Cache().Put(k, health.MetadataStateOf(m))
	return "was replaced by another one", nil
}

// last that is known of an object.
func (r *remover) last(ctx context.Context, e *inventory.Entry) (cluster.ObjectState, bool, error) {
	k := e.Ref()
	if err := r.denied[k]; err != nil {
		if e.UID == "" {
			// Whoever may not read it has not created it either.
			err = nil
		}
		return cluster.ObjectState{}, false, err
	}
	if s, ok := r.seen(k); ok || e.UID != "" || r.gone[k] {
		return s, ok, nil
	}
	// It may have been created by a request whose answer never came, and so lately that the watch does not show it.
	err := r.lookOne(ctx, e, r.known)
	r.found(k)
	s, ok := r.known[k]
	return s, ok, err
}

// defined are the kinds of the definitions among the objects, with one version of each that is served.
func (r *remover) defined(ctx context.Context, unwanted []*inventory.Entry) (map[schema.GroupKind]schema.GroupVersionKind, error) {
	out := map[schema.GroupKind]schema.GroupVersionKind{}
	for _, e := range unwanted {
		if e.Stage != object.StageCRDs || r.known[e.Ref()].Set != r.id {
			continue
		}
		crd, err := r.Get(ctx, e.GVK(), e.Ref())
		if err != nil {
			return nil, err
		}
		if crd == nil {
			continue
		}
		for gvk, m := range kindsOf(crd) {
			r.c.Learn(gvk, m)
			if known, ok := out[gvk.GroupKind()]; !ok || gvk.Version < known.Version {
				out[gvk.GroupKind()] = gvk
			}
		}
	}
	return out, nil
}
