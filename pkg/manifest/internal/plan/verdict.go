// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// A State says what prevents a part from being applied completely. If a part has several states, the greatest one counts.
type State int

// The states, in ascending order of importance.
const (
	// Clear means that nothing prevents the part from being applied.
	Clear State = iota
	// Spared means that a CRD of the part was changed and cannot be repaired now. The rest of the part is applied.
	Spared
	// Blocked means that the part is not applied because a CRD of the bundle is refused.
	Blocked
	// Held means that the part waits for an earlier install, as the config of that install requests.
	Held
	// Waiting means that the part, or the whole bundle, waits for something else.
	Waiting
	// Failed means that the part could not be applied, although its objects are known.
	Failed
	// Dropped means that the part failed so that its objects are unknown.
	Dropped
)

// String returns the name of the state.
func (s State) String() string {
	return [...]string{"Clear", "Spared", "Blocked", "Held", "Waiting", "Failed", "Dropped"}[s]
}

// Stops reports whether the state stops the application of the part.
func (s State) Stops() bool { return s >= Blocked }

// Fails reports whether the state is a failure.
func (s State) Fails() bool { return s == Spared || s >= Failed }

// A Verdict is a reason why a part is not applied, or not completely.
type Verdict struct {
	// Part, or object.WholeBundle.
	Part  object.PartID
	State State
	// Reason on one line.
	Reason string
	// Err is the failure, with the error types that callers check for. It is nil for a wait, and for the failure of an earlier
	// call.
	Err error
}

// Fail returns the verdict for an error.
func Fail(part object.PartID, s State, err error) Verdict {
	return Verdict{Part: part, State: s, Reason: Why(err), Err: err}
}

// Why returns an error as the reason of a verdict. It is never empty.
func Why(err error) string {
	return cmp.Or(text.OneLine(err.Error()), "failed without a reason")
}

// Verdicts are in the order in which they were reached.
type Verdicts []Verdict

// Of returns the first verdict with the greatest state on a part. It is Clear if there is none.
func (v Verdicts) Of(part object.PartID) Verdict {
	return v.greatest(part, func(State) bool { return true })
}

// Failure returns the first verdict with the greatest failure state on a part, even if the part also waits. It returns false if the
// part has not failed.
func (v Verdicts) Failure(part object.PartID) (Verdict, bool) {
	d := v.greatest(part, State.Fails)
	return d, d.State.Fails()
}

// greatest returns the first verdict on a part with the greatest state among those that the function selects.
func (v Verdicts) greatest(part object.PartID, of func(s State) bool) Verdict {
	out := Verdict{Part: part}
	for _, d := range v {
		if d.Part == part && of(d.State) && d.State > out.State {
			out = d
		}
	}
	return out
}

// Stop reports whether the application of a part stops.
func (v Verdicts) Stop(part object.PartID) bool { return v.Of(part).State.Stops() }

// IsClear reports whether all parts can be applied and nothing must wait.
func (v Verdicts) IsClear() bool {
	return !v.has(State.Stops)
}

// IsIncomplete reports whether the objects of some parts are unknown. If so, nothing may be pruned.
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

// Waiting reports whether the bundle waits, and for what. It returns the first wait, regardless of the part. Held parts come last,
// because the install that they wait for usually waits for something itself.
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

// Held returns why parts are held, by part, or nil. It ignores other verdicts on these parts.
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
