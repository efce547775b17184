// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// syncTimeout bounds how long a call waits until a kind has been listed for the first time. After it objects are read
// one by one.
const syncTimeout = 5 * time.Second

// Observe a set. It writes nothing, and asks the cluster for nothing that a watch tells.
func (e *Engine) Observe(ctx context.Context, c Cluster, s *Set) (Observation, error) {
	w, err := e.work(c, s)
	if err != nil {
		return Observation{}, err
	}
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
	for i := range w.parts {
		o.Parts = append(o.Parts, *states[w.parts[i].name])
	}
	o.conclude()
	return o, nil
}

// Exists says whether the cluster holds an inventory of the set. Of the set only the name is used. No is confirmed by a
// request, so that it can be trusted where a set is removed.
func (e *Engine) Exists(ctx context.Context, c Cluster, s *Set) (bool, error) {
	inv, err := e.outline(c, s).load(ctx, true)
	return inv != nil, err
}

// partStates begins the state of each part with what the inventory and the last step say.
func (w *work) partStates(inv *inventory, o *Observation) map[string]*PartState {
	states := make(map[string]*PartState, len(w.parts))
	for i := range w.parts {
		p := &w.parts[i]
		rec := inv.Parts[p.name]
		st := &PartState{Name: p.title(), State: Ready, Version: rec.Version, HooksSkipped: rec.Hooks}
		states[p.name] = st
		if rec.Digest == p.digest {
			continue
		}
		o.UpToDate = false
		if f := w.failure(p.name, p.digest); f != "" {
			st.see(Error, f)
			continue
		}
		st.see(Processing, or(w.mem.waiting, "is being applied"))
	}
	for _, name := range slices.Sorted(maps.Keys(inv.Parts)) {
		if states[name] == nil && o.State == Ready {
			o.UpToDate = false
			o.State = Processing
			o.Message = title(name) + ": " + or(w.mem.waiting, "is being removed")
		}
	}
	return states
}

// failure of the last step to apply these inputs of a part; empty for none.
func (w *work) failure(partName, digest string) string {
	if f, ok := w.mem.failed[partName]; ok && f.digest == digest {
		return oneLine(f.err.Error())
	}
	return ""
}

func or(s, fallback string) string {
	if s != "" {
		return s
	}
	return fallback
}

// judge one object: is it there, as it was applied, and ready?
func (w *work) judge(ctx context.Context, en *entry, seen map[Key]Summary, p *PartState, o *Observation) error {
	k := en.key()
	sum, exists := seen[k]
	if err := w.denied[k]; err != nil && en.UID != "" {
		o.Total++
		p.see(Error, "cannot be read: "+oneLine(err.Error()))
		return nil
	}
	if en.Pruned {
		o.UpToDate = false
		if exists {
			p.see(Processing, or(w.mem.waiting, k.String()+": "+or(sum.Message, "is being deleted")))
		}
		return nil
	}
	if en.UID == "" {
		// It has not been applied yet, and partStates has said so.
		o.UpToDate = false
		o.Total++
		return nil
	}
	if en.Stage == stageResource && !exists {
		// The custom resource is created once; that it was deleted is its users' decision.
		return nil
	}
	o.Total++
	if d, ok := w.drifted(en, sum, exists); ok {
		o.UpToDate = false
		o.Drift = append(o.Drift, d)
		if f := w.failure(en.Part, w.inputsOf(en.Part)); f != "" {
			p.see(Error, f)
		}
		p.see(Processing, d.String())
		return nil
	}
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
func (w *work) drifted(en *entry, sum Summary, exists bool) (Drift, bool) {
	switch {
	case en.Stage == stageResource:
		return Drift{}, false
	case !exists:
		return Drift{Key: en.key(), Deleted: true}, true
	case sum.Status == Terminating:
		// It comes back once it is gone.
		return Drift{}, false
	case sum.Owned != en.Owned:
		return Drift{Key: en.key()}, true
	}
	return Drift{}, false
}

// ready says whether an object that is as it was applied works.
func (w *work) ready(ctx context.Context, en *entry, sum Summary) (State, string, error) {
	if sum.Status == Terminating {
		return Processing, sum.Message, nil
	}
	if rule, ok := w.ruleFor(en); ok {
		return w.judged(ctx, en, sum, rule)
	}
	switch sum.Status {
	case Current:
		return Ready, "", nil
	case Failed:
		return Error, or(sum.Message, "has failed"), nil
	case InProgress, Terminating:
	}
	return Processing, or(sum.Message, "is not ready"), nil
}

// look at all objects of the inventory: in the watch, or one by one where a kind cannot be watched. What may not be read
// is noted as denied.
func (w *work) look(ctx context.Context, inv *inventory) (map[Key]Summary, error) {
	unsynced := w.track(ctx, inv.kinds())
	seen := make(map[Key]Summary, len(inv.Objects))
	for i := range inv.Objects {
		en := &inv.Objects[i]
		if _, blind := unsynced[en.gvk()]; blind {
			err := w.lookOne(ctx, en, seen)
			if kerrors.IsForbidden(err) {
				w.denied[en.key()] = err
				continue
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		if sum, ok := w.c.Watch().Get(en.key()); ok {
			seen[en.key()] = sum
		}
	}
	return seen, nil
}

func (w *work) lookOne(ctx context.Context, en *entry, seen map[Key]Summary) error {
	accept := acceptMetadata
	if HasStatus(en.key().GroupKind()) {
		accept = acceptJSON
	}
	b, err := w.read(ctx, en.gvk(), en.key(), accept)
	if err != nil || b == nil {
		return err
	}
	sum, _, err := decodeSummary(en.gvk(), b)
	if err != nil {
		return err
	}
	seen[en.key()] = sum
	return nil
}

// track kinds, for a bounded time.
func (w *work) track(ctx context.Context, gvks []schema.GroupVersionKind) map[schema.GroupVersionKind]error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	return w.c.Watch().Track(ctx, gvks)
}
