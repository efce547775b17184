// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"sort"
)

// unestablished names a definition that the API server does not serve yet.
func (st *step) unestablished() string {
	for i := range st.inv.Objects {
		en := &st.inv.Objects[i]
		k := en.key()
		if en.Stage != stageDefinitions || en.UID == "" || en.Pruned || st.failed(en.Part) {
			continue
		}
		sum, ok := st.c.Watch().Get(k)
		if !ok {
			sum, ok = st.known[k]
		}
		if ok && sum.Status != Current {
			return k.String() + ": " + or(sum.Message, "is not established")
		}
	}
	return ""
}

// finish the parts whose objects are all applied. It says whether the inventory changed.
func (st *step) finish(ctx context.Context) bool {
	changed := st.result.Created+st.result.Changed+len(st.result.Repaired) > 0
	if st.result.Waiting != "" {
		return changed
	}
	for _, pl := range st.plans {
		if st.failed(pl.name) || !st.complete(pl) {
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
	idx := st.inv.index()
	for i := range pl.objects {
		o := &pl.objects[i]
		if en := idx[o.key]; en.UID == "" || en.Intent != o.intent {
			if st.result.Waiting == "" {
				st.result.Waiting = o.key.String() + ": " + or(st.known[o.key].Message, "is being deleted")
			}
			return false
		}
	}
	return true
}

// finishPart prunes what the part no longer has, records the release and remembers the inputs.
func (st *step) finishPart(ctx context.Context, pl *planned) error {
	wanted := make(map[Key]bool, len(pl.objects))
	for i := range pl.objects {
		wanted[pl.objects[i].key] = true
	}
	for i := range st.inv.Objects {
		en := &st.inv.Objects[i]
		if en.Part == pl.name && !wanted[en.key()] {
			en.Pruned = true
		}
	}
	rec := st.inv.Parts[pl.name]
	if rec.Digest == pl.digest {
		return nil
	}
	if pl.rendered != nil {
		if err := st.recordRelease(ctx, pl, &rec); err != nil {
			return err
		}
		st.result.Installed = append(st.result.Installed, rec.Chart+" "+rec.Version)
		if rec.Hooks > 0 {
			st.result.HooksSkipped = append(st.result.HooksSkipped, pl.name)
		}
	}
	rec.Digest = pl.digest
	st.inv.Parts[pl.name] = rec
	return nil
}

// dropUnwanted removes the objects that no part wants any more, the last stage first, and the parts that are not in the
// set. It says whether the inventory changed.
func (st *step) dropUnwanted(ctx context.Context) bool {
	gone := map[string]bool{}
	for name := range st.inv.Parts {
		if !st.wants(name) {
			gone[name] = true
		}
	}
	var unwanted []*entry
	for i := range st.inv.Objects {
		if en := &st.inv.Objects[i]; en.Pruned || gone[en.Part] {
			en.Pruned = true
			unwanted = append(unwanted, en)
		}
	}
	if len(unwanted) == 0 && len(gone) == 0 {
		return false
	}
	r := remover{work: st.work, known: st.known}
	waiting, err := r.remove(ctx, unwanted)
	if err != nil {
		st.fail(pruning, err)
	}
	if waiting.Message != "" {
		st.result.Waiting = waiting.Message
	}
	for _, en := range unwanted {
		if r.gone[en.key()] {
			st.result.Pruned = append(st.result.Pruned, en.key())
		}
	}
	st.inv.drop(func(e *entry) bool { return e.Pruned && r.gone[e.key()] })
	st.dropParts(ctx, gone)
	return true
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

// dropParts whose objects are all gone, with their releases.
func (st *step) dropParts(ctx context.Context, gone map[string]bool) {
	left := map[string]bool{}
	for i := range st.inv.Objects {
		left[st.inv.Objects[i].Part] = true
	}
	names := make([]string, 0, len(gone))
	for name := range gone {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if left[name] {
			continue
		}
		if err := st.deleteReleases(ctx, name, st.inv.Parts[name]); err != nil {
			st.fail(pruning, err)
			continue
		}
		delete(st.inv.Parts, name)
	}
}
