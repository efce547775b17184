// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// awaitDefinitions finds the parts that have to wait until the API server serves their kinds: those of definitions of
// their own, of the crds of the set, and of other parts.
func (st *step) awaitDefinitions() {
	for i := range st.inv.Objects {
		en := &st.inv.Objects[i]
		if en.Stage != object.StageCRDs || en.UID == "" || en.Pruned {
			continue
		}
		k := en.Ref()
		sum, ok := st.c.Cache().Get(k)
		if !ok {
			sum, ok = st.known[k]
		}
		if !ok || sum.Status == cluster.Current {
			continue
		}
		for _, pl := range st.plans {
			if !st.stopped(pl.name) && pl.needs(en) {
				st.wait(pl.name, k.String()+": "+cmp.Or(sum.Message, "is not established"))
			}
		}
	}
}

// needs says whether a part must not be applied before a definition is established.
func (pl *planned) needs(definition *inventory.Entry) bool {
	if definition.Part == partCRDs || definition.Part == pl.name {
		return true
	}
	return slices.ContainsFunc(pl.objects, func(o object.Desired) bool { return o.CRD == definition.Name })
}

// wait with a part. The first wait is what the step waits for.
func (st *step) wait(partName, message string) {
	st.waits[partName] = message
	if st.result.Waiting == "" {
		st.result.Waiting = message
	}
}

// finish the parts whose objects are all applied, and prune. It says whether the inventory changed.
func (st *step) finish(ctx context.Context) bool {
	changed := st.result.Created+st.result.Changed+len(st.result.Repaired)+len(st.result.Yielded) > 0
	for _, pl := range st.plans {
		if st.stopped(pl.name) || !st.complete(pl) {
			continue
		}
		if err := st.finishPart(ctx, pl); err != nil {
			st.fail(pl.name, err)
		}
		changed = true
	}
	return st.dropUnwanted(ctx) || changed
}

// complete says whether each object of a part is as it is wanted.
func (st *step) complete(pl *planned) bool {
	idx := st.inv.Index()
	for i := range pl.objects {
		o := &pl.objects[i]
		if en := idx[o.Ref]; en.UID == "" || en.Intent != o.Hash {
			st.wait(pl.name, o.Ref.String()+": "+comesBack(en, st.known[o.Ref]))
			return false
		}
	}
	return true
}

// finishPart prunes what the part no longer has, records the release and remembers the inputs.
func (st *step) finishPart(ctx context.Context, pl *planned) error {
	st.giveUp(pl)
	rec := st.inv.Parts[pl.name]
	if rec.Digest == pl.digest {
		return nil
	}
	if pl.in != nil {
		if err := st.finishInstall(ctx, pl, &rec); err != nil {
			return err
		}
	}
	rec.Digest = pl.digest
	st.inv.Parts[pl.name] = rec
	return nil
}

// giveUp the objects that a part no longer has.
func (st *step) giveUp(pl *planned) {
	wanted := make(map[cluster.ObjectRef]bool, len(pl.objects))
	for i := range pl.objects {
		wanted[pl.objects[i].Ref] = true
	}
	for i := range st.inv.Objects {
		en := &st.inv.Objects[i]
		if en.Part == pl.name && !wanted[en.Ref()] && !st.handOver(en) {
			en.Pruned = true
		}
	}
}

// dropUnwanted removes the objects that no part wants any more, the last stage first, and the parts that are not in the
// set. It says whether the inventory changed.
func (st *step) dropUnwanted(ctx context.Context) bool {
	changed := st.releaseResource()
	unwanted, marked := st.unwanted()
	gone := st.goneParts()
	marked = st.outdate(gone) || marked
	if len(unwanted) == 0 && len(gone) == 0 {
		return changed
	}
	if st.unplanned {
		// A part that cannot be planned may want them.
		st.noteWaiting("pruning waits until all installs can be rendered")
		return changed || marked
	}
	r := remover{work: st.work, known: st.known, leaving: st.leavingParts(gone)}
	waiting, err := r.remove(ctx, unwanted)
	if err != nil {
		st.fail(pruning, err)
	}
	st.noteWaiting(waiting.Message)
	st.result.Kept = append(st.result.Kept, r.kept...)
	st.result.LeftBehind = append(st.result.LeftBehind, r.left...)
	st.result.Pruned = append(st.result.Pruned, r.deleted(unwanted)...)
	st.inv.Drop(func(e *inventory.Entry) bool { return e.Pruned && r.gone[e.Ref()] })
	maps.DeleteFunc(st.mem.settled, func(k cluster.ObjectRef, _ string) bool { return r.gone[k] })
	dropped := st.dropParts(ctx, st.left(gone, err == nil && waiting.Message == ""))
	return changed || marked || len(r.gone) > 0 || dropped
}

func (st *step) noteWaiting(message string) {
	if st.result.Waiting == "" {
		st.result.Waiting = message
	}
}

// releaseResource, the custom resource of a set that no longer has one: it is its users' then.
func (st *step) releaseResource() bool {
	if st.wants(partResource) {
		return false
	}
	before := len(st.inv.Objects)
	st.inv.Drop(func(e *inventory.Entry) bool { return e.Part == partResource })
	return len(st.inv.Objects) < before
}

// unwanted objects, and whether some of them are so since this step.
func (st *step) unwanted() ([]*inventory.Entry, bool) {
	var out []*inventory.Entry
	marked := false
	for i := range st.inv.Objects {
		en := &st.inv.Objects[i]
		switch {
		case en.Pruned:
		case st.wants(en.Part):
			continue
		case st.handOver(en):
			marked = true
			continue
		default:
			en.Pruned, marked = true, true
		}
		out = append(out, en)
	}
	return out, marked
}

// pruning is what an error is booked under that belongs to no part.
const pruning = "pruning"

func (st *step) wants(name string) bool {
	for i := range st.parts {
		if st.parts[i].name == name {
			return true
		}
	}
	return false
}

// outdate parts that leave: one that comes back before all of it is gone has to be applied again, whatever its inputs. It
// says whether the inventory changed.
func (st *step) outdate(gone []string) bool {
	changed := false
	for _, name := range gone {
		rec := st.inv.Parts[name]
		if rec.Digest == "" {
			continue
		}
		rec.Digest, changed = "", true
		st.inv.Parts[name] = rec
	}
	return changed
}

// goneParts are those of the inventory that the set no longer has, by name.
func (st *step) goneParts() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(st.inv.Parts)) {
		if !st.wants(name) {
			out = append(out, name)
		}
	}
	return out
}

// dropParts whose objects are all gone, with their releases. It says whether there were any.
func (st *step) dropParts(ctx context.Context, gone []string) bool {
	left := map[string]bool{}
	for i := range st.inv.Objects {
		left[st.inv.Objects[i].Part] = true
	}
	dropped := false
	for _, name := range gone {
		if left[name] {
			continue
		}
		if err := st.deleteReleases(ctx, name, st.inv.Parts[name]); err != nil {
			st.fail(pruning, err)
			continue
		}
		delete(st.inv.Parts, name)
		dropped = true
	}
	return dropped
}
