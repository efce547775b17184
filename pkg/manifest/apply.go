// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"sort"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Result says what Apply did.
type Result struct {
	// Created and Changed count objects.
	Created, Changed int
	// Pruned are the objects that are gone because the set no longer has them.
	Pruned []Key
	// Repaired is the drift that was put right, with its fields.
	Repaired []Drift
	// Waiting is what the rest waits for; empty if nothing is left to do.
	Waiting string
	// Installed are the charts of which a new revision was installed, as name version.
	Installed []string
	// HooksSkipped names the installs whose charts have hooks, which are not run.
	HooksSkipped []string
}

// Apply does the next step towards the set: all that can be done without waiting. A part that fails leaves the others
// alone; its error is returned, and is part of what Observe says from then on.
func (e *Engine) Apply(ctx context.Context, c Cluster, s *Set) (Result, error) {
	w, err := e.work(c, s)
	if err != nil {
		return Result{}, err
	}
	was, err := w.load(ctx)
	if err != nil {
		return Result{}, err
	}
	st := &step{work: w, inv: &inventory{Parts: map[string]partRecord{}}, known: map[Key]Summary{}, errs: map[string]error{}, drift: map[Key]bool{}}
	if was != nil {
		st.inv = was.clone()
		if st.known, err = w.look(ctx, was); err != nil {
			return Result{}, err
		}
	}
	st.findDrift()
	st.planAll(ctx)
	if err := st.run(ctx, was); err != nil {
		return st.result, err
	}
	return st.result, st.conclude()
}

// A step is one call of Apply.
type step struct {
	*work
	inv   *inventory
	known map[Key]Summary
	drift map[Key]bool
	plans []*planned

	mu     sync.Mutex // Guards errs, result, and the entries of inv while objects are applied.
	errs   map[string]error
	result Result
}

func (st *step) findDrift() {
	for i := range st.inv.Objects {
		en := &st.inv.Objects[i]
		sum, exists := st.known[en.key()]
		if _, ok := st.drifted(en, sum, exists); ok && en.UID != "" && !en.Pruned {
			st.drift[en.key()] = true
		}
	}
}

// planAll parts that have something to do.
func (st *step) planAll(ctx context.Context) {
	for i := range st.parts {
		p := &st.parts[i]
		rec := st.inv.Parts[p.name]
		same := rec.Digest == p.digest
		if same && !st.unfinished(p.name) {
			continue
		}
		if p.install != nil && rec.Revision == 0 && rec.Digest == "" && !st.s.Adopt {
			if err := st.refuseForeignRelease(ctx, p.install); err != nil {
				st.fail(p.name, err)
				continue
			}
		}
		pl, err := st.plan(ctx, p, rec, same)
		if err != nil {
			st.fail(p.name, err)
			continue
		}
		st.plans = append(st.plans, pl)
	}
}

// unfinished says whether an object of a part drifted or is on its way out.
func (st *step) unfinished(partName string) bool {
	for i := range st.inv.Objects {
		en := &st.inv.Objects[i]
		if en.Part == partName && (st.drift[en.key()] || en.UID == "" || en.Pruned) {
			return true
		}
	}
	return false
}

func (st *step) fail(partName string, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.errs[partName] == nil {
		st.errs[partName] = err
	}
}

func (st *step) failed(partName string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.errs[partName] != nil
}

// run the step: write down what is about to be, apply it stage by stage, prune, and write down what is.
func (st *step) run(ctx context.Context, was *inventory) error {
	fresh := st.intend()
	if was == nil || fresh {
		if err := st.save(ctx, st.inv); err != nil {
			return err
		}
	}
	for _, s := range stages {
		st.applyStage(ctx, s)
		if s == stageDefinitions {
			if st.result.Waiting = st.unestablished(); st.result.Waiting != "" {
				break
			}
		}
	}
	changed := st.finish(ctx)
	st.remember()
	if !changed {
		return nil
	}
	return st.save(ctx, st.inv)
}

// intend to apply: each object that is planned gets an entry. It says whether there were new ones.
func (st *step) intend() bool {
	idx := st.inv.index()
	var added []entry
	for _, pl := range st.plans {
		if _, ok := st.inv.Parts[pl.name]; !ok {
			rec := partRecord{}
			if pl.install != nil {
				rec.Namespace = pl.install.Namespace
			}
			st.inv.Parts[pl.name] = rec
		}
		for i := range pl.objects {
			o := &pl.objects[i]
			en := idx[o.key]
			if en == nil {
				added = append(added, entryOf(o))
				continue
			}
			en.Part, en.Stage, en.Version, en.Pruned = o.part, o.stage, o.version, false
		}
	}
	st.inv.Objects = append(st.inv.Objects, added...)
	return len(added) > 0
}

// applyStage applies the objects of one stage, those of one part after those of the part before.
func (st *step) applyStage(ctx context.Context, s stage) {
	idx := st.inv.index()
	for _, pl := range st.plans {
		if st.failed(pl.name) {
			continue
		}
		g := errgroup.Group{}
		g.SetLimit(st.e.concurrency)
		for i := range pl.objects {
			o := &pl.objects[i]
			if o.stage != s || !st.needed(o, idx[o.key]) {
				continue
			}
			g.Go(func() error {
				if err := st.applyOne(ctx, o, idx[o.key]); err != nil {
					st.fail(pl.name, errors.Wrap(explain(err), o.key.String()))
				}
				return nil
			})
		}
		_ = g.Wait() //nolint:errcheck // Errors belong to the part, see fail.
	}
}

// needed says whether an object must be sent.
func (st *step) needed(o *object, en *entry) bool {
	if sum, ok := st.known[o.key]; ok && sum.Status == Terminating {
		// The API server would change an object that is on its way out. It is created anew once it is gone.
		return en.UID == ""
	}
	return en.UID == "" || en.Intent != o.intent || st.drift[o.key]
}

func (st *step) applyOne(ctx context.Context, o *object, en *entry) error {
	sum, exists := st.known[o.key]
	create := en.UID == "" || !exists
	var before *metav1.PartialObjectMetadata
	if exists && (st.drift[o.key] || sum.Set != st.id) {
		m, err := st.metadata(ctx, o.gvk(), o.key)
		if err != nil {
			return err
		}
		if err := st.claim(o, en, m); err != nil {
			return err
		}
		before = m
	}
	sum, fields, err := st.apply(ctx, o, create)
	if create && kerrors.IsConflict(err) {
		m, err := st.metadata(ctx, o.gvk(), o.key)
		if err != nil {
			return err
		}
		if err := st.claim(o, en, m); err != nil {
			return err
		}
		create = false
		sum, fields, err = st.apply(ctx, o, false)
	}
	if err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.drift[o.key]:
		d := Drift{Key: o.key, Deleted: !exists}
		if before != nil {
			d.Fields = lostFields(ownedFields(before.ManagedFields), fields)
		}
		st.result.Repaired = append(st.result.Repaired, d)
	case create:
		st.result.Created++
	default:
		st.result.Changed++
	}
	en.UID, en.Intent, en.Owned = sum.UID, o.intent, sum.Owned
	st.known[o.key] = sum
	return nil
}

// conclude the step: what failed is kept for Observe, and returned in one line.
func (st *step) conclude() error {
	if len(st.errs) == 0 {
		return nil
	}
	names := make([]string, 0, len(st.errs))
	for n := range st.errs {
		names = append(names, n)
	}
	sort.Strings(names)
	lines := make([]string, 0, len(names))
	for _, n := range names {
		lines = append(lines, title(n)+": "+oneLine(st.errs[n].Error()))
	}
	const most = 3
	if len(lines) > most {
		lines = append(lines[:most], "…")
	}
	return errors.New(strings.Join(lines, "; "))
}

// remember what failed and what is waited for.
func (st *step) remember() {
	st.mem.failed = make(map[string]failure, len(st.errs))
	for i := range st.parts {
		p := &st.parts[i]
		if err := st.errs[p.name]; err != nil {
			st.mem.failed[p.name] = failure{digest: p.digest, err: err}
		}
	}
	st.mem.waiting = st.result.Waiting
}
