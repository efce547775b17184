// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// syncTimeout bounds how long a call waits until a kind has been listed for the first time. After it objects are read
// one by one.
const syncTimeout = 5 * time.Second

// Observe a set. It writes nothing, and asks the cluster for nothing that a watch tells.
func (e *Engine) Observe(ctx context.Context, c cluster.Cluster, s *Set) (Observation, error) {
	w, err := e.work(ctx, c, s)
	if err != nil {
		return Observation{}, err
	}
	defer w.end()
	inv, err := w.load(ctx, false)
	if err != nil {
		return Observation{}, err
	}
	if inv == nil {
		return Observation{State: Processing, Message: "nothing is installed yet"}, nil
	}
	seen, err := w.look(ctx, inv)
	if err != nil {
		return Observation{}, err
	}
	o, err := w.judgeAll(ctx, inv, seen)
	if err != nil {
		return Observation{}, err
	}
	// With adopt it is taken over by the next step.
	o.UpToDate = o.UpToDate && w.owns()
	w.seeGood(inv, &o)
	w.seeTests(inv, &o)
	return o, nil
}

// judgeAll objects of an inventory.
func (w *work) judgeAll(ctx context.Context, inv *inventory.Inventory, seen map[cluster.ObjectRef]cluster.ObjectState) (Observation, error) {
	o := Observation{Exists: true, UpToDate: true, State: Ready}
	states := w.partStates(inv, &o)
	for i := range inv.Objects {
		en := &inv.Objects[i]
		p, ok := states[en.Part]
		if !ok {
			o.UpToDate = false
			continue
		}
		if err := w.judge(ctx, en, seen, p, &o); err != nil {
			return Observation{}, err
		}
	}
	w.addNotes(states, &o)
	for i := range w.parts {
		o.Parts = append(o.Parts, *states[w.parts[i].name])
	}
	o.conclude()
	return o, nil
}

// Exists says whether the cluster holds an inventory of the set. Of the set only the name and the owner are used. No is
// confirmed by a request, so that it can be trusted where a set is removed. The inventory of another owner is not that of
// the set; the error is an *OwnedError then, whether the set adopts or not.
func (e *Engine) Exists(ctx context.Context, c cluster.Cluster, s *Set) (bool, error) {
	w, err := e.outline(ctx, c, s)
	if err != nil {
		return false, err
	}
	defer w.end()
	inv, err := w.loadOwn(ctx)
	return inv != nil, err
}

// partStates begins the state of each part with what the inventory and the last step say.
func (w *work) partStates(inv *inventory.Inventory, o *Observation) map[string]*PartState {
	states := make(map[string]*PartState, len(w.parts))
	for i := range w.parts {
		p := &w.parts[i]
		rec := inv.Parts[p.name]
		st := &PartState{Name: p.title(), State: Ready, Version: rec.Version}
		states[p.name] = st
		if rec.Atomic {
			o.Atomic = max(o.Atomic, rec.HookTimeoutOf())
		}
		if rec.Digest == p.digest {
			continue
		}
		if why := rec.Stuck(p.digest, w.s.Retry); why != "" {
			st.see(Error, why)
			w.seeStuck(p.name, rec.Run)
			continue
		}
		o.UpToDate = false
		if f := w.failure(p.name, p.digest); f != "" {
			st.see(Error, f)
			continue
		}
		waiting := cmp.Or(w.mem.held[p.name], w.mem.waiting)
		st.see(Processing, cmp.Or(waiting, "is being applied"))
		st.Applying = waiting == ""
	}
	for _, name := range slices.Sorted(maps.Keys(inv.Parts)) {
		if states[name] == nil && o.State == Ready {
			o.UpToDate = false
			o.State, o.Message = w.leavingState(name, inv.Parts[name].Run)
		}
	}
	return states
}

// failure of the last step to apply these inputs of a part; empty for none.
func (w *work) failure(partName, digest string) string {
	if f, ok := w.mem.failed[partName]; ok && f.digest == digest {
		return text.OneLine(f.err.Error())
	}
	return ""
}

// judge one object: is it there, as it was applied, and ready?
func (w *work) judge(ctx context.Context, en *inventory.Entry, seen map[cluster.ObjectRef]cluster.ObjectState, p *PartState, o *Observation) error {
	k := en.Ref()
	sum, exists := seen[k]
	if !w.expected(en, sum, exists, p, o) {
		return nil
	}
	o.Total++
	if d, ok := w.drifted(en, sum, exists); ok {
		if counts, err := w.judgeDrift(ctx, en, d, sum, p, o); err != nil || !counts {
			return err
		}
	}
	w.judgeYields(en, o)
	state, message, err := w.ready(ctx, en, sum)
	if err != nil {
		return err
	}
	if state == Ready {
		o.Ready++
		return nil
	}
	p.see(state, fmt.Sprintf("%s: %s", k, message))
	return nil
}

// expected says whether an object should be there and can be seen. What is to say of one that should not or cannot is
// said.
func (w *work) expected(en *inventory.Entry, sum cluster.ObjectState, exists bool, p *PartState, o *Observation) bool {
	k := en.Ref()
	if err := w.denied[k]; err != nil && en.UID != "" {
		o.Total++
		p.see(Error, "cannot be read: "+text.OneLine(err.Error()))
		return false
	}
	switch {
	case en.Pruned:
		o.UpToDate = false
		if exists {
			p.see(Processing, cmp.Or(w.mem.waiting, k.String()+": "+cmp.Or(sum.Message, "is being deleted")))
		}
		return false
	case en.UID == "":
		// It has not been applied yet, and partStates has said so.
		o.UpToDate = o.UpToDate && w.stuck[en.Part]
		o.Total++
		return false
	}
	// The custom resource is created once; that it was deleted is its users' decision.
	return en.Stage != object.StageResource || exists
}

// inputsOf a part as a digest.
func (w *work) inputsOf(partName string) string {
	for i := range w.parts {
		if w.parts[i].name == partName {
			return w.parts[i].digest
		}
	}
	return ""
}

// drifted says whether an object differs from what was applied.
func (w *work) drifted(en *inventory.Entry, sum cluster.ObjectState, exists bool) (Drift, bool) {
	switch {
	case en.Stage == object.StageResource:
		return Drift{}, false
	case !exists:
		return Drift{Key: en.Ref(), Deleted: true}, true
	case sum.Status == cluster.Terminating:
		// It comes back once it is gone.
		return Drift{}, false
	case sum.UID != en.UID:
		return Drift{Key: en.Ref(), Replaced: true}, true
	case sum.Owned != en.Owned:
		return Drift{Key: en.Ref()}, true
	}
	return Drift{}, false
}

// ready says whether an object that is as it was applied works.
func (w *work) ready(ctx context.Context, en *inventory.Entry, sum cluster.ObjectState) (State, string, error) {
	if sum.Status == cluster.Terminating {
		return Processing, sum.Message, nil
	}
	if rule := w.ruleFor(en); rule != nil {
		return w.judged(ctx, en, sum, rule)
	}
	switch sum.Status {
	case cluster.Current:
		return Ready, "", nil
	case cluster.Failed:
		return Error, cmp.Or(sum.Message, "has failed"), nil
	case cluster.InProgress, cluster.Terminating:
	}
	return Processing, cmp.Or(sum.Message, "is not ready"), nil
}

// look at all objects of the inventory: in the watch, or one by one where a kind cannot be watched. What may not be read
// is noted as denied.
func (w *work) look(ctx context.Context, inv *inventory.Inventory) (map[cluster.ObjectRef]cluster.ObjectState, error) {
	unsynced := w.track(ctx, inv.Kinds())
	seen := make(map[cluster.ObjectRef]cluster.ObjectState, len(inv.Objects))
	for i := range inv.Objects {
		en := &inv.Objects[i]
		if _, blind := unsynced[en.GVK()]; blind {
			err := w.lookOne(ctx, en, seen)
			if w.asked == nil {
				w.asked = map[cluster.ObjectRef]bool{}
			}
			w.asked[en.Ref()] = true
			if kerrors.IsForbidden(err) {
				w.denied[en.Ref()] = err
				continue
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		if sum, ok := w.c.Cache().Get(en.Ref()); ok {
			seen[en.Ref()] = sum
		}
	}
	return seen, nil
}

func (w *work) lookOne(ctx context.Context, en *inventory.Entry, seen map[cluster.ObjectRef]cluster.ObjectState) error {
	sum, ok, err := w.Client.State(ctx, en.GVK(), en.Ref())
	if err != nil || !ok {
		return err
	}
	seen[en.Ref()] = sum
	return nil
}

// track kinds, for a bounded time.
func (w *work) track(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	return w.c.Cache().Track(ctx, gvks)
}
