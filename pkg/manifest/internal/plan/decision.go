// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// A Hindrance is an obstacle that prevents a part from being applied completely. If a part has several, the greatest one takes
// precedence.
type Hindrance int

// These are the hindrances, in ascending order of precedence.
const (
	// Clear means that nothing prevents the part from being applied.
	Clear Hindrance = iota
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
	// Dropped means that the part failed in such a way that its objects are unknown.
	Dropped
)

// String returns the name of the hindrance.
func (h Hindrance) String() string {
	return [...]string{"Clear", "Spared", "Blocked", "Held", "Waiting", "Failed", "Dropped"}[h]
}

// Stops reports whether the hindrance stops the application of the part.
func (h Hindrance) Stops() bool { return h >= Blocked }

// Fails reports whether the hindrance is a failure.
func (h Hindrance) Fails() bool { return h == Spared || h >= Failed }

// A Decision is a reason why a part is not applied, or not completely.
type Decision struct {
	// Part is the ID of the part, or object.WholeBundle.
	Part      object.PartID
	Hindrance Hindrance
	// Reason is the reason for the hindrance, on one line.
	Reason string
	// Err is the failure, with the error types that callers check for. It is nil for a wait, and for the failure of an earlier
	// call.
	Err error
}

// Fail returns the decision on a part that results from an error.
func Fail(part object.PartID, s Hindrance, err error) Decision {
	return Decision{Part: part, Hindrance: s, Reason: Why(err), Err: err}
}

// Why returns the text of an error as the reason of a decision. The text is never empty.
func Why(err error) string {
	return cmp.Or(text.OneLine(err.Error()), "failed for an unknown reason")
}

// Decisions lists decisions in the order in which they were reached.
type Decisions []Decision

// Of returns the first decision with the greatest hindrance on a part. If there is none, the hindrance is Clear.
func (v Decisions) Of(part object.PartID) Decision {
	return v.greatest(part, func(Hindrance) bool { return true })
}

// Failure returns the first decision with the greatest failure on a part, even if the part also waits. It returns false if the
// part has not failed.
func (v Decisions) Failure(part object.PartID) (Decision, bool) {
	d := v.greatest(part, Hindrance.Fails)
	return d, d.Hindrance.Fails()
}

// greatest returns the first decision with the greatest hindrance on a part, among the decisions for which of returns true.
func (v Decisions) greatest(part object.PartID, of func(s Hindrance) bool) Decision {
	out := Decision{Part: part}
	for _, d := range v {
		if d.Part == part && of(d.Hindrance) && d.Hindrance > out.Hindrance {
			out = d
		}
	}
	return out
}

// Stop reports whether the decisions stop the application of a part.
func (v Decisions) Stop(part object.PartID) bool { return v.Of(part).Hindrance.Stops() }

// IsClear reports whether all parts can be applied and nothing must wait.
func (v Decisions) IsClear() bool {
	return !v.has(Hindrance.Stops)
}

// IsIncomplete reports whether the objects of some parts are unknown. If so, nothing may be pruned.
func (v Decisions) IsIncomplete() bool {
	return v.has(func(s Hindrance) bool { return s == Blocked || s == Dropped })
}

func (v Decisions) has(state func(s Hindrance) bool) bool {
	for i := range v {
		if state(v[i].Hindrance) {
			return true
		}
	}
	return false
}

// Waiting reports whether the bundle waits, and returns the reason. It returns the first wait of any part. Held parts come last,
// because the install that they wait for usually waits for something itself.
func (v Decisions) Waiting() (reason string, waits bool) {
	for i := range v {
		switch v[i].Hindrance {
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

// Held returns the reasons of the held parts, by part, or nil if there are none. It ignores other decisions on these parts.
func (v Decisions) Held() map[object.PartID]string {
	var out map[object.PartID]string
	for i := range v {
		if v[i].Hindrance != Held {
			continue
		}
		if out == nil {
			out = map[object.PartID]string{}
		}
		out[v[i].Part] = v[i].Reason
	}
	return out
}
