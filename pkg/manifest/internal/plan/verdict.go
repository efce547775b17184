// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// A State says what keeps a part from being applied, or a piece of it. Of several states of a part the greatest one counts.
type State int

// The states, the one that matters least first.
const (
	// Clear means that nothing keeps the part from being applied.
	Clear State = iota
	// Spared means that a CRD of the part was changed, and cannot be repaired now. The rest of the part is applied.
	Spared
	// Blocked means that the part is not applied because a CRD of the bundle is refused.
	Blocked
	// Held means that the part waits for an install before it, as the config of that install asks for.
	Held
	// Waiting means that the part, or the bundle as a whole, waits for something else.
	Waiting
	// Failed means that the part could not be applied, although the objects that it wants are known.
	Failed
	// Dropped means that the part failed in a way that leaves it unknown which objects it wants.
	Dropped
)

// String returns the name of the state.
func (s State) String() string {
	return [...]string{"Clear", "Spared", "Blocked", "Held", "Waiting", "Failed", "Dropped"}[s]
}

// Stops reports whether nothing more of a part is applied.
func (s State) Stops() bool { return s >= Blocked }

// Fails reports whether something is wrong with a part.
func (s State) Fails() bool { return s == Spared || s >= Failed }

// A Verdict is one reason for which a part is not applied, or not all of it.
type Verdict struct {
	// Part by its ID; empty for the bundle as a whole.
	Part  object.PartID
	State State
	// Reason on one line.
	Reason string
	// Err is what failed, with the kinds that callers look for; nil for a wait, and where an earlier call failed.
	Err error
}

// Fail returns the verdict for an error. The state says how much it matters.
func Fail(part object.PartID, s State, err error) Verdict {
	return Verdict{Part: part, State: s, Reason: Why(err), Err: err}
}

// Why returns an error as the reason of a verdict, which is never empty.
func Why(err error) string {
	return cmp.Or(text.OneLine(err.Error()), "failed without a reason")
}

// Verdicts in the order in which they were reached.
type Verdicts []Verdict

// Of a part: the verdict with the greatest state, and of equal ones the first. It is Clear where there is none.
func (v Verdicts) Of(part object.PartID) Verdict {
	return v.greatest(part, func(State) bool { return true })
}

// Failure of a part: the verdict that says what is wrong with it, whatever else it waits for; false where nothing is.
func (v Verdicts) Failure(part object.PartID) (Verdict, bool) {
	d := v.greatest(part, State.Fails)
	return d, d.State.Fails()
}

// greatest returns the verdict on a part with the greatest of some states, and of equal ones the first.
func (v Verdicts) greatest(part object.PartID, of func(s State) bool) Verdict {
	out := Verdict{Part: part}
	for _, d := range v {
		if d.Part == part && of(d.State) && d.State > out.State {
			out = d
		}
	}
	return out
}

// Stop reports whether nothing more of a part is applied.
func (v Verdicts) Stop(part object.PartID) bool { return v.Of(part).State.Stops() }

// IsClear reports whether all parts can be applied, and nothing is waited for.
func (v Verdicts) IsClear() bool {
	return !v.has(State.Stops)
}

// IsIncomplete reports whether there are parts of which it is unknown which objects they want. Nothing is pruned then.
func (v Verdicts) IsIncomplete() bool {
	return v.has(func(s State) bool { return s == Blocked || s == Dropped })
}

func (v Verdicts) has(state func(s State) bool) bool {
	for i := range v {
		if state(v[i].State) {
			return true
		}
	}
	return false
}

// Waiting reports whether the bundle waits for something, and for what. It is what was found first, whichever part waits for it. That a
// part is held back comes last: the install that it is held back for mostly waits for something itself.
func (v Verdicts) Waiting() (reason string, waits bool) {
	for i := range v {
		switch v[i].State {
		case Waiting, Blocked:
			return v[i].Reason, true
		case Held:
			if !waits {
				reason, waits = v[i].Reason, true
			}
		case Clear, Spared, Failed, Dropped:
		}
	}
	return reason, waits
}

// Held returns why parts are held back, by part; nil for none. It does not matter what else is said of them.
func (v Verdicts) Held() map[object.PartID]string {
	var out map[object.PartID]string
	for i := range v {
		if v[i].State != Held {
			continue
		}
		if out == nil {
			out = map[object.PartID]string{}
		}
		out[v[i].Part] = v[i].Reason
	}
	return out
}
