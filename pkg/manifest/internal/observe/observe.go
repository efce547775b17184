// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// Observe returns the state of a bundle that follows from the input.
func Observe(in Input) Observation {
	if in.Inventory == nil {
		return Observation{State: health.Processing, Message: "nothing is installed yet"}
	}
	o := observer{Input: in, out: Observation{Exists: true, UpToDate: true, State: health.Ready}}
	if in.Inventory.Last != nil {
		o.last = *in.Inventory.Last
	}
	o.observeParts()
	o.out.Installing = o.isInstalling()
	o.observeLeaving()
	for i := range in.Inventory.Objects {
		en := &in.Inventory.Objects[i]
		p := o.parts[en.Part]
		if p == nil {
			o.out.UpToDate = false
			continue
		}
		o.observeEntry(en, p)
	}
	if o.uncompared {
		o.out.Drift = nil
	}
	o.concludeParts()
	o.out.UpToDate = o.out.UpToDate && !in.Adopting && !o.hasStaleReasons()
	o.observeCheckpoint()
	o.observeTests()
	return o.out
}

// hasStaleReasons reports whether the inventory still contains the reasons why a step stopped, although nothing is left to do. This
// happens if a later step succeeded but could not save the inventory. Another step removes the reasons, so that they are not reported
// again.
func (o *observer) hasStaleReasons() bool { return o.out.State == health.Ready && !o.last.IsEmpty() }

// An observer makes one observation.
type observer struct {
	Input

	parts map[object.PartID]*part
	// last holds the reasons why the last step stopped.
	last inventory.Reasons
	out  Observation
	// uncompared is true if a drifted object could not be compared with its applied state.
	uncompared bool
}

// A part holds the findings about a part of the bundle.
type part struct {
	*bundle.Part

	findings []finding
	// notes holds findings about objects that are not repaired. Other findings take precedence.
	notes []finding
	// hookFailure describes the failed hook. It is nil if no hook failed.
	hookFailure *inventory.HookFailure
}

// needsStep reports whether a step would apply or repair objects of the part that are not in the desired state.
func (p *part) needsStep() bool { return p.hookFailure == nil || p.hookFailure.NeedsStep(true) }

func (p *part) found(phase Phase, message string) {
	p.findings = append(p.findings, finding{phase: phase, message: message})
}

func (p *part) noted(phase Phase, message string) {
	p.notes = append(p.notes, finding{phase: phase, message: message})
}

// observeParts records the findings about each part from the inventory and the last step.
func (o *observer) observeParts() {
	o.parts = make(map[object.PartID]*part, len(o.Parts))
	for i := range o.Parts {
		p := &part{Part: &o.Parts[i]}
		o.parts[p.Name] = p
		rec := o.Inventory.Parts[p.Name]
		if rec.Atomic {
			o.out.Atomic = max(o.out.Atomic, rec.HookTimeoutOf())
		}
		if rec.Digest == p.Digest && !o.Outdated[p.Name] {
			continue
		}
		if failure, ok := rec.HookFailure(p.Inputs(), o.Retry); ok {
			p.found(PhaseHookFailed, failure.Reason)
			p.hookFailure = &failure
			continue
		}
		o.out.UpToDate = false
		failure, failed := o.last.Failure(p.Name, p.Digest)
		wait, waits := o.last.Wait(p.Name)
		switch {
		case failed:
			p.found(phaseOfFailure(failure), failure.Message)
		case !waits:
			p.found(PhaseApplying, "is being applied")
		case rec.Resumes(p.Inputs(), o.Retry) && !rec.Run.Over:
			p.found(PhaseHooksRunning, wait)
		default:
			p.found(PhaseBlocked, wait)
		}
	}
}

// isInstalling reports whether a part in the inventory was never applied completely, or whether a part that is not in the
// inventory failed in the last step.
func (o *observer) isInstalling() bool {
	for _, rec := range o.Inventory.Parts {
		if rec.Digest == "" && rec.Content == "" && rec.Revision == 0 {
			return true
		}
	}
	for name := range o.last.Failed {
		if _, known := o.Inventory.Parts[name]; !known && o.parts[name] != nil {
			return true
		}
	}
	return len(o.Inventory.Parts) == 0 && len(o.Parts) > 0
}

// observeLeaving records the state of the first part that the bundle no longer contains.
func (o *observer) observeLeaving() {
	for _, name := range slices.Sorted(maps.Keys(o.Inventory.Parts)) {
		if o.parts[name] != nil {
			continue
		}
		f := finding{phase: PhaseRemoving, message: cmp.Or(o.last.Waiting, "is being removed")}
		if failure, failed := o.last.PruneFailure(); failed {
			f = finding{phase: PhaseFailed, message: failure}
		}
		if run := o.Inventory.Parts[name].Run; run.BlocksRemoval() {
			f = finding{phase: PhaseRemovalFailed, message: run.Failed}
		}
		o.out.UpToDate = false
		o.out.State, o.out.Message = f.phase.State(), name.String()+": "+f.message
		return
	}
}

// observeEntry records whether an object is in its applied state and ready.
func (o *observer) observeEntry(en *inventory.Entry, p *part) {
	k := en.Ref()
	state, exists := o.Objects[k]
	o.out.SharesCRDs = o.out.SharesCRDs || en.IsUsed()
	switch standingOf(en, exists, o.Denied[k]) {
	case unreadable:
		o.out.Total++
		p.found(PhaseUnreadable, "cannot read the status: "+text.OneLine(o.Denied[k].Error()))
	case pruned:
		o.out.UpToDate = false
		if failure, failed := o.last.PruneFailure(); failed {
			p.found(PhaseFailed, failure)
		}
		if exists {
			p.found(PhasePruning, cmp.Or(o.last.Waiting, k.String()+": "+cmp.Or(state.Message, "is being deleted")))
		}
	case pending:
		o.out.UpToDate = o.out.UpToDate && !p.needsStep()
		o.out.Total++
		if o.Inventory.Parts[p.Name].Digest == p.Digest {
			// Otherwise observeParts has recorded the reason.
			o.observeRecreated(en, p)
		}
	case dismissed:
	case expected:
		o.observeExpected(en, state, exists, p)
	}
}

// observeExpected records whether an object that should exist is in its applied state and ready.
func (o *observer) observeExpected(en *inventory.Entry, state cluster.ObjectState, exists bool, p *part) {
	o.out.Total++
	o.out.UpToDate = o.out.UpToDate && (!en.IsNewlyFailed(state) || !p.needsStep())
	o.out.Ceded = append(o.out.Ceded, cededOf(en)...)
	d, drifted := FindDrift(en, state, exists, o.Set)
	if drifted && IsShared(en, state, exists, o.Set) {
		o.observeShared(en, d, p)
		return
	}
	if !drifted || o.observeDrift(en, d, p) {
		o.observeCeded(en, p)
		o.observeHealth(en, state, p)
	}
}

// observeRecreated records the state of an object that was deleted for a repair and has not been recreated yet.
func (o *observer) observeRecreated(en *inventory.Entry, p *part) {
	if failure, failed := o.last.Failure(p.Name, p.Digest); failed {
		p.found(phaseOfFailure(failure), failure.Message)
		return
	}
	p.found(PhaseDrifted, cmp.Or(o.last.Waiting, en.Ref().String()+" is being recreated"))
}

// observeTakenOver records an object that belongs to another bundle, regardless of the drift policy.
func (o *observer) observeTakenOver(d Drift, p *part) {
	if found, ok := o.Differences[d.Key]; ok && found.Drift.Kind == DriftTakenOver {
		d = found.Drift
	}
	o.out.Drift = append(o.out.Drift, d)
	p.found(PhaseTakenOver, d.String()+"; remove the object from one of the two modules")
}

// observeShared records a CRD of another owner that must be checked again. The last step may have found that it can't be used.
func (o *observer) observeShared(en *inventory.Entry, d Drift, p *part) {
	o.out.UpToDate = o.out.UpToDate && !p.needsStep()
	if failure, failed := o.last.Failure(p.Name, p.Digest); failed {
		p.found(phaseOfFailure(failure), failure.Message)
	}
	if d.Kind == DriftChanged || d.Kind == DriftTakenOver {
		p.found(PhaseDrifted, en.Ref().String()+": whether it can be used is being checked, because it or its owner changed")
		return
	}
	o.out.Drift = append(o.out.Drift, d)
	p.found(PhaseDrifted, d.String())
}

// observeDrift records a drifted object according to the drift policy. It reports whether the health of the object is relevant.
func (o *observer) observeDrift(en *inventory.Entry, d Drift, p *part) bool {
	if d.Kind == DriftTakenOver {
		o.observeTakenOver(d, p)
		return false
	}
	switch o.Drift {
	case bundle.DriftIgnore:
		return p.ignore(en, d)
	case bundle.DriftReport:
		found := o.Differences[d.Key]
		if !found.Differs {
			return true
		}
		o.out.Drift = append(o.out.Drift, found.Drift)
		o.uncompared = o.uncompared || found.Failed
		if found.breaks() {
			p.noted(PhaseBroken, found.Drift.String())
			return false
		}
		p.noted(PhaseChanged, found.Drift.String())
		return true
	case bundle.DriftRepair:
	}
	o.out.UpToDate = o.out.UpToDate && !p.needsStep()
	o.out.Drift = append(o.out.Drift, d)
	if failure, failed := o.last.Failure(p.Name, p.Digest); failed {
		p.found(phaseOfFailure(failure), failure.Message)
	}
	if en.Restores.Pause(o.Now) {
		p.found(PhaseContended, d.String()+
			" repeatedly and is restored once a minute; find the client that changes the object")
	}
	p.found(PhaseDrifted, d.String())
	return false
}

// ignore records a drifted object whose drift is ignored. It reports whether the health of the object is relevant.
func (p *part) ignore(en *inventory.Entry, d Drift) bool {
	switch {
	case d.Kind != DriftDeleted:
		return true
	case en.HasFailed():
		p.noted(PhaseBroken, d.Key.String()+" failed and was deleted")
	default:
		p.noted(PhaseMissing, d.Key.String()+" is missing")
	}
	return false
}

// cededOf returns the ceded fields of an object.
func cededOf(en *inventory.Entry) []CededField {
	var out []CededField
	for i := range en.Ceded {
		c := &en.Ceded[i]
		out = append(out, CededField{Key: en.Ref(), Field: c.Field(), Manager: c.Manager, Contended: c.Contended()})
	}
	return out
}

// observeCeded records the fields that were ceded after an ownership conflict.
func (o *observer) observeCeded(en *inventory.Entry, p *part) {
	for i, f := range cededOf(en) {
		c := &en.Ceded[i]
		if !c.Contended() {
			continue
		}
		p.noted(PhaseCeded, f.String()+
			"; stop one of the two managers, or remove the field from the module")
		if o.Drift == bundle.DriftRepair && c.IsDue(o.Now) {
			o.out.UpToDate = o.out.UpToDate && !p.needsStep()
		}
	}
}

// observeHealth records whether an existing object is ready.
func (o *observer) observeHealth(en *inventory.Entry, state cluster.ObjectState, p *part) {
	h, ruled := o.Health[en.Ref()]
	if !ruled {
		h.State, h.Message = health.OfStatus(state)
	}
	if h.State == health.Ready {
		o.out.Ready++
		return
	}
	p.found(phaseOf(h.State), en.Ref().String()+": "+h.Message)
}

// concludeParts sets the phases of the parts and the state of the bundle.
func (o *observer) concludeParts() {
	var all []finding
	for i := range o.Parts {
		p := o.parts[o.Parts[i].Name]
		findings := slices.Concat(p.findings, p.notes)
		all = append(all, findings...)
		f := conclude(findings)
		o.out.Parts = append(o.out.Parts, PartState{
			Kind: p.Name.Kind(), Install: p.Name.Install(),
			Phase: f.phase, State: f.phase.State(), Message: f.message, Version: o.Inventory.Parts[p.Name].Version,
		})
	}
	o.out.Works = o.out.State == health.Ready && works(all)
	o.out.conclude()
}

// observeCheckpoint records the stored revision, and the reason if the wanted one cannot be stored. A bundle that
// works is not up to date until its revision is stored.
func (o *observer) observeCheckpoint() {
	if o.Checkpoint == nil {
		return
	}
	o.out.Checkpoint, o.out.NotKept = slices.Clone(o.Inventory.Checkpoint), o.Checkpoint.refusal()
	if (o.out.State == health.Ready || o.out.Works) && o.Checkpoint.Differs(o.Inventory) {
		o.out.UpToDate = false
	}
}

// observeTests records the results of the tests. A bundle with unfinished tests is not up to date, because it would otherwise not
// be observed again until the next poll.
func (o *observer) observeTests() {
	if t := o.Inventory.Tests; t != nil {
		o.out.TestToken, o.out.Tests = t.Token, TestStates(t)
	}
	hookFailed := false
	for _, p := range o.parts {
		hookFailed = hookFailed || p.hookFailure != nil
	}
	if TestsDue(o.Inventory, o.Test) && !hookFailed {
		o.out.UpToDate = false
	}
}

// TestsDue reports whether some tests for a token have not run yet. It returns false for an empty token.
func TestsDue(inv *inventory.Inventory, token string) bool {
	return token != "" && (inv.Tests == nil || inv.Tests.Token != token || !inv.Tests.Over)
}

// TestStates returns the states of the tests in an inventory.
func TestStates(t *inventory.Tests) []TestState {
	out := make([]TestState, 0, len(t.Tests))
	for _, s := range t.Tests {
		out = append(out, TestState{Install: s.Part.Install(), Key: keyOf(s.Name), State: s.State, Message: s.Message})
	}
	return out
}

// keyOf parses the name of a test in an inventory, which is the text of its key.
func keyOf(name string) cluster.ObjectRef {
	kind, rest, _ := strings.Cut(name, " ")
	namespace, name, ok := strings.Cut(rest, "/")
	if !ok {
		namespace, name = "", rest
	}
	return cluster.ObjectRef{Kind: kind, Namespace: namespace, Name: name}
}
