// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/fieldset"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ownership"
)

// A note is said of a part in which all works.
type note struct {
	state   State
	message string
	// broken says that not all works: an object is missing.
	broken bool
}

// note something of a part. The first one of the most urgent is kept.
func (w *work) note(partName string, n note) {
	if w.notes == nil {
		w.notes = map[string]note{}
	}
	old, ok := w.notes[partName]
	broken := n.broken || old.broken
	if ok && !n.state.MoreUrgentThan(old.state) {
		n = old
	}
	n.broken = broken
	w.notes[partName] = n
}

// addNotes to the states of parts.
func (w *work) addNotes(states map[string]*PartState, o *Observation) {
	if len(w.notes) == 0 {
		return
	}
	works, warned := o.State == Ready, false
	for name, p := range states {
		n, noted := w.notes[name]
		works = works && p.State == Ready && !n.broken
		warned = warned || n.state == Warning
		if noted && (n.state.MoreUrgentThan(p.State) || p.State == Ready) {
			p.State, p.Message, p.Applying = n.state, n.message, false
		}
	}
	o.Works = works && warned
}

// judgeDrift of an object: what is to be repaired is on its way, and what is left is noted. It says whether the object
// counts as it is.
func (w *work) judgeDrift(ctx context.Context, en *inventory.Entry, d Drift, sum cluster.ObjectState, p *PartState, o *Observation) (bool, error) {
	switch w.s.Drift {
	case DriftIgnore:
		if d.Deleted {
			w.note(en.Part, note{state: Ready, message: d.Key.String() + " is missing"})
		}
		return !d.Deleted, nil
	case DriftReport:
		d, differs, err := w.reportedDrift(ctx, en, d, sum)
		if err != nil || !differs {
			return err == nil, err
		}
		o.Drift = append(o.Drift, d)
		broken := d.Deleted || d.Foreign
		w.note(en.Part, note{state: Warning, message: d.String(), broken: broken})
		return !broken, nil
	case DriftRepair:
	}
	o.UpToDate = o.UpToDate && w.stuck[en.Part]
	o.Drift = append(o.Drift, d)
	if f := w.failure(en.Part, w.inputsOf(en.Part)); f != "" {
		p.see(Error, f)
	}
	if w.mem.contention.Paused(d.Key, w.e.now()) {
		p.see(Warning, d.String()+" again and again, and is put back once a minute; find out who does it")
	}
	p.see(Processing, d.String())
	return false, nil
}

// judgeYields of an object whose fields were left to others after a fight.
func (w *work) judgeYields(en *inventory.Entry, o *Observation) {
	for i := range en.Yields {
		y := &en.Yields[i]
		if !y.Contended() {
			continue
		}
		w.note(en.Part, note{state: Warning, message: Yield{Key: en.Ref(), Field: y.Field(), Manager: y.Manager, Fought: true}.String() +
			"; stop one of the two, or take the field out of the module"})
		if w.s.Drift == DriftRepair && y.IsDue(w.e.now()) {
			o.UpToDate = false
		}
	}
}

// reportFor is how long a report on an object of which no watch tells more is believed.
const reportFor = 10 * time.Minute

// A reportedDrift is what was found of an object that differs and is left as it is. It holds for as long as the object
// has this UID and our fields in it are these, up to a time.
type reportedDrift struct {
	uid, owned, intent string

	drift   Drift
	differs bool
	until   time.Time
}

// holds says whether the object is still as it was when this was found.
func (r *reportedDrift) holds(en *inventory.Entry, sum cluster.ObjectState, now time.Time) bool {
	return r.uid == sum.UID && r.owned == sum.Owned && r.intent == en.Intent && (r.until.IsZero() || now.Before(r.until))
}

// reportedDrift is what differs of an object, with its fields, or that nothing does: what others took is theirs. The API
// server is asked by a dry run, once for each drift.
func (w *work) reportedDrift(ctx context.Context, en *inventory.Entry, d Drift, sum cluster.ObjectState) (Drift, bool, error) {
	k := en.Ref()
	if r, ok := w.mem.reported[k]; ok && r.holds(en, sum, w.e.now()) {
		return r.drift, r.differs, nil
	}
	r := reportedDrift{uid: sum.UID, owned: sum.Owned, intent: en.Intent}
	m, err := w.Metadata(ctx, en.GVK(), k)
	if err != nil {
		return Drift{}, false, err
	}
	known := true
	switch {
	case m == nil:
		r.drift, r.differs = Drift{Key: k, Deleted: true}, true
	case string(m.UID) != en.UID:
		r.drift, r.differs = Drift{Key: k, Replaced: true, Foreign: m.Labels[object.LabelPartOf] != w.id}, true
	default:
		r.drift, r.differs, known = w.driftOf(ctx, en, m)
	}
	if d.Deleted || !known {
		r.until = w.e.now().Add(reportFor)
	}
	if w.mem.reported == nil {
		w.mem.reported = map[cluster.ObjectRef]reportedDrift{}
	}
	w.mem.reported[k] = r
	return r.drift, r.differs, nil
}

// driftOf an object that is ours: the fields that applying it would win back. Where that cannot be told, it is still said
// that it differs.
func (w *work) driftOf(ctx context.Context, en *inventory.Entry, m *metav1.PartialObjectMetadata) (d Drift, differs, known bool) {
	d = Drift{Key: en.Ref()}
	o, err := w.wanted(ctx, en)
	if err != nil || o == nil {
		return d, true, false
	}
	out, ys, err := w.withoutCeded(ctx, o, en, m.ManagedFields)
	if err != nil {
		return d, true, false
	}
	after, err := w.DryRunFields(ctx, out)
	if err != nil {
		return d, true, false
	}
	d.Fields = ownership.LostNames(fieldset.AppliedBy(object.FieldManager, m.ManagedFields), after)
	return d, len(d.Fields) > 0 || len(ys) == 0, true
}

// wanted is the object of an entry as it was applied; nil where it is not wanted so any more.
func (w *work) wanted(ctx context.Context, en *inventory.Entry) (*object.Desired, error) {
	for i := range w.parts {
		p := &w.parts[i]
		rec := w.mem.inv.Parts[p.name]
		if p.name != en.Part || rec.Digest != p.digest {
			continue
		}
		pl, ok := w.rendered[p.name]
		if !ok {
			var err error
			if pl, err = w.plan(ctx, p, rec); err != nil {
				return nil, err
			}
			if w.rendered == nil {
				w.rendered = map[string]*planned{}
			}
			w.rendered[p.name] = pl
		}
		for n := range pl.objects {
			if o := &pl.objects[n]; o.Ref == en.Ref() && o.Hash == en.Intent {
				return o, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // As said above.
}
