// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// A Result says what Apply did.
type Result struct {
	// Created and Changed count objects.
	Created, Changed int
	// Pruned are the objects that are gone because the set no longer has them.
	Pruned []cluster.ObjectRef
	// Kept are the objects that the set no longer has and that were let go instead of deleted, as their annotation
	// helm.sh/resource-policy asks for, and those that they cannot be without.
	Kept []cluster.ObjectRef
	// LeftBehind are the objects that the set no longer has, and that are not those that were applied. They stay as they are.
	LeftBehind []cluster.ObjectRef
	// Recreated are the objects that were deleted to be created anew, as a field of them cannot be changed.
	Recreated []cluster.ObjectRef
	// Repaired is the drift that was put right, with its fields.
	Repaired []Drift
	// Yielded are fields that from now on are left to others, which set them.
	Yielded []Yield
	// Waiting is what the rest waits for; empty if nothing is left to do.
	Waiting string
	// Installed are the charts of which a new revision was installed, as name version, and the installs of plain objects
	// that were installed anew, by name.
	Installed []string
	// HooksRun counts the hooks of the revisions that were installed.
	HooksRun int
	// Tested are the tests that are over since this call.
	Tested []TestState
}

// Apply does the next step towards the set: all that can be done without waiting. A part that fails leaves the others
// alone; its error is returned, and is part of what Observe says from then on.
func (e *Engine) Apply(ctx context.Context, c cluster.Cluster, s *Set) (Result, error) {
	w, err := e.work(ctx, c, s)
	if err != nil {
		return Result{}, err
	}
	defer w.end()
	was, err := w.load(ctx, false)
	if err != nil {
		return Result{}, err
	}
	r, err := w.step(ctx, was, was == nil || !w.owns())
	if !errors.Is(err, errInventoryExists) {
		return r, err
	}
	// The inventory lost the label by which it is watched. It gets it back.
	if was, err = w.load(ctx, true); err != nil {
		return Result{}, err
	}
	return w.step(ctx, was, true)
}

// step from an inventory, nil for none, which is written in any case if asked for.
func (w *work) step(ctx context.Context, was *inventory.Inventory, write bool) (Result, error) {
	st, err := w.begin(ctx, was)
	if err != nil {
		return Result{}, err
	}
	st.write = write
	if err := st.keepGood(ctx, was); err != nil {
		return Result{}, err
	}
	st.planAll(ctx)
	st.settle()
	if err := st.holdBack(ctx); err != nil {
		return st.result, err
	}
	st.preflight(ctx)
	if err := st.run(ctx); err != nil {
		return st.result, err
	}
	return st.result, st.conclude()
}

// begin a step: look at what is there, and at what differs from what was applied.
func (w *work) begin(ctx context.Context, was *inventory.Inventory) (*step, error) {
	st := &step{
		work: w, inv: &inventory.Inventory{Parts: map[string]inventory.Part{}}, create: was == nil,
		known: map[cluster.ObjectRef]cluster.ObjectState{}, drift: map[cluster.ObjectRef]bool{}, errs: map[string]error{}, waits: map[string]string{},
	}
	if was != nil {
		st.inv = was.Clone()
		known, err := w.look(ctx, was)
		if err != nil {
			return nil, err
		}
		st.known = known
	}
	st.findDrift()
	return st, nil
}

// A step is one call of Apply.
type step struct {
	*work

	inv *inventory.Inventory
	// write the inventory before anything else, and create says that there is none.
	write, create bool
	drift         map[cluster.ObjectRef]bool
	plans         []*planned
	// unplanned says that a part could not be planned, so that nobody knows which objects it wants.
	unplanned bool
	// errs and waits are why a part failed, and what it waits for.
	errs  map[string]error
	waits map[string]string

	// hooked says that the runs of hooks in inv changed.
	hooked bool
	// ownsMore says that fields became ours of an object that may not have been applied after that.
	ownsMore bool
	// held are parts that are not applied because of a definition that is refused.
	held map[string]bool
	// spared are definitions that differ from what was applied, and are not put back.
	spared []spared
	// recreations are objects that could not be changed, and are to be deleted and created anew.
	recreations []recreation

	mu     sync.Mutex // Guards known, recreations, ownsMore and result while objects are applied. Entries of inv are changed by one goroutine each.
	known  map[cluster.ObjectRef]cluster.ObjectState
	result Result
}

func (st *step) findDrift() {
	for i := range st.inv.Objects {
		en := &st.inv.Objects[i]
		sum, exists := st.known[en.Ref()]
		if _, ok := st.drifted(en, sum, exists); (ok || st.anyDue(en)) && en.UID != "" && !en.Pruned && st.denied[en.Ref()] == nil {
			st.drift[en.Ref()] = true
		}
	}
}

// planAll parts that have something to do.
func (st *step) planAll(ctx context.Context) {
	for i := range st.parts {
		p := &st.parts[i]
		rec := st.inv.Parts[p.name]
		if rec.Digest == p.digest && !st.unfinished(p.name) {
			continue
		}
		if why := st.stuckBefore(p, &rec); why != "" {
			st.fail(p.name, errors.New(why))
			continue
		}
		pl, err := st.plan(ctx, p, rec)
		if err != nil {
			st.fail(p.name, err)
			st.unplanned = true
			continue
		}
		st.plans = append(st.plans, pl)
	}
}

// unfinished says whether an object of a part drifted, or was never applied. Those on their way out need no plan.
func (st *step) unfinished(partName string) bool {
	for i := range st.inv.Objects {
		en := &st.inv.Objects[i]
		if en.Part == partName && !en.Pruned && (st.repairs(en.Ref()) || en.UID == "") {
			return true
		}
	}
	return false
}

func (st *step) fail(partName string, err error) {
	if st.errs[partName] == nil {
		st.errs[partName] = err
	}
}

// stopped says whether a part failed or waits.
func (st *step) stopped(partName string) bool {
	return st.errs[partName] != nil || st.waits[partName] != ""
}

// saveTimeout is for the last write of a step, which is made even if the time of the step is over: without it, all would
// have to be applied again.
const saveTimeout = 10 * time.Second

// run the step: write down what is about to be, apply it stage by stage, prune, and write down what is.
func (st *step) run(ctx context.Context) error {
	st.abandon(ctx)
	if st.intend() || st.write {
		if err := st.save(ctx, st.inv, st.create); err != nil {
			return err
		}
	}
	for _, s := range object.Stages {
		st.applyStage(ctx, s)
		switch s {
		case object.StageCRDs:
			st.awaitDefinitions()
			st.applyHeld(ctx)
		case object.StageWebhooks:
			st.postHooks(ctx)
			st.awaitInstalls()
		default:
		}
	}
	changed := st.finish(ctx)
	st.runTests(ctx)
	changed = changed || st.hooked || st.ownsMore
	st.failSpared()
	st.remember()
	if !changed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	return st.save(ctx, st.inv, false)
}

// intend to apply: each object that is planned gets an entry. It says whether anything has to be written down first: new
// objects, and parts whose old inputs are no longer what is in the cluster.
func (st *step) intend() bool {
	changed := false
	for _, pl := range st.plans {
		old, ok := st.inv.Parts[pl.name]
		changed = changed || !ok || old.Digest != pl.rec.Digest || old.ReleaseOf(pl.name) != pl.rec.ReleaseOf(pl.name)
		st.inv.Parts[pl.name] = pl.rec
	}
	idx := st.inv.Index()
	var added []inventory.Entry
	for _, pl := range st.plans {
		for i := range pl.objects {
			o := &pl.objects[i]
			en := idx[o.Ref]
			if en == nil {
				added = append(added, inventory.EntryOf(o))
				continue
			}
			en.Part, en.Stage, en.Version, en.Pruned, en.Keep = o.Part, o.Stage, o.Version, false, o.Keep
			if !pl.repair {
				st.startAnew(en)
			}
		}
	}
	st.inv.Objects = append(st.inv.Objects, added...)
	return changed || len(added) > 0
}

// applyStage applies the objects of one stage, those of one part after those of the part before.
func (st *step) applyStage(ctx context.Context, s object.Stage) {
	idx := st.inv.Index()
	for _, pl := range st.plans {
		if st.stopped(pl.name) {
			continue
		}
		var todo []*object.Desired
		for i := range pl.objects {
			if o := &pl.objects[i]; o.Stage == s && !pl.holds(o) && st.needed(o, idx[o.Ref]) {
				todo = append(todo, o)
			}
		}
		errs := make([]error, len(todo))
		g := errgroup.Group{}
		g.SetLimit(st.e.concurrency)
		for i, o := range todo {
			g.Go(func() error {
				errs[i] = st.applyOne(ctx, o, idx[o.Ref])
				return nil
			})
		}
		_ = g.Wait() // Errors belong to the part.
		st.recreateAll(ctx, pl.name)
		for _, err := range errs {
			if err != nil {
				st.fail(pl.name, err)
			}
		}
	}
}

// needed says whether an object must be sent.
func (st *step) needed(o *object.Desired, en *inventory.Entry) bool {
	if sum, ok := st.known[o.Ref]; ok && sum.Status == cluster.Terminating {
		// The API server would change an object that is on its way out. It is created anew once it is gone.
		return false
	}
	if st.spares(o.Ref) {
		return false
	}
	return en.UID == "" || en.Intent != o.Hash || st.repairs(o.Ref)
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
		lines = append(lines, title(n)+": "+text.OneLine(st.errs[n].Error()))
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
	st.noteHeld()
	st.mem.waiting = st.result.Waiting
	if err := st.errs[pruning]; err != nil {
		st.mem.waiting = text.OneLine(err.Error())
	}
	st.mem.forgetGone(st.inv)
	st.mem.plan = nil // It tells of what was before.
	// Objects are applied in no order.
	slices.SortFunc(st.result.Repaired, func(a, b Drift) int { return strings.Compare(a.String(), b.String()) })
}
