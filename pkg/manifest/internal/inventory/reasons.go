// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"maps"
	"net/netip"
	"strings"
	"time"
	"unicode"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// Reasons say why the last step did not go further. They are stored so that another process says the same. They affect messages
// only, never what a step does.
type Reasons struct {
	// Failed are the parts that could not be applied.
	Failed map[object.PartID]Failure `json:"failed,omitempty"`
	// Held are the parts that wait for an install before them, and why.
	Held map[object.PartID]string `json:"held,omitempty"`
	// Waiting is what the step waited for; empty for nothing.
	Waiting string `json:"waiting,omitempty"`
	// Pruning is why objects and parts that the bundle no longer has could not be deleted; empty where they could.
	Pruning string `json:"pruning,omitempty"`
}

// A Failure of a part.
type Failure struct {
	// Digest of the inputs that failed.
	Digest string `json:"digest,omitempty"`
	// Message is the error on one line.
	Message string `json:"message"`
}

// Failure returns why the last step could not apply these inputs of a part; empty for none.
func (r *Reasons) Failure(part object.PartID, digest string) string {
	if f, ok := r.Failed[part]; ok && f.Digest == digest {
		return f.Message
	}
	return ""
}

// Conclude returns why a step went no further, in the form in which an inventory keeps it; nil for no reason. Retry is the retry token of
// the call; with a nil redact, nothing is removed.
func Conclude(i *Inventory, why Reasons, retry string, redact func(text string) string) *Reasons {
	return i.withoutStuck(why, retry).ToStore(redact)
}

// withoutStuck returns reasons without the failures of hooks, which the runs of the hooks in the inventory have. The token is that
// of the call.
func (i *Inventory) withoutStuck(r Reasons, retry string) *Reasons {
	r.Failed = maps.Clone(r.Failed)
	maps.DeleteFunc(r.Failed, func(part object.PartID, f Failure) bool {
		rec := i.Parts[part]
		_, stuck := rec.Stuck(f.Digest, retry)
		return stuck
	})
	return &r
}

// maxReason is the longest reason that is stored, in bytes.
const maxReason = 1024

// ToStore returns the reasons as they are stored: bounded, and without the values that redact removes; nil for none. With a nil
// redact, nothing is removed.
func (r *Reasons) ToStore(redact func(text string) string) *Reasons {
	if len(r.Failed) == 0 && len(r.Held) == 0 && r.Waiting == "" && r.Pruning == "" {
		return nil
	}
	out := &Reasons{Waiting: Bounded(r.Waiting, redact), Pruning: Bounded(r.Pruning, redact)}
	if len(r.Failed) > 0 {
		out.Failed = make(map[object.PartID]Failure, len(r.Failed))
	}
	for name, f := range r.Failed {
		out.Failed[name] = Failure{Digest: f.Digest, Message: Bounded(f.Message, redact)}
	}
	if len(r.Held) > 0 {
		out.Held = make(map[object.PartID]string, len(r.Held))
	}
	for name, why := range r.Held {
		out.Held[name] = Bounded(why, redact)
	}
	return out
}

// Bounded returns a text without secret values and not longer than a reason may be.
func Bounded(s string, redact func(text string) string) string {
	if redact != nil {
		s = redact(s)
	}
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason-len("…")], "") + "…"
	}
	return s
}

// Same reports whether both are the same reasons; nil stands for none. Measures do not count: ports, times and counters differ each
// time, and are not worth a write. Names count, also where they differ in a digit only.
func (r *Reasons) Same(o *Reasons) bool {
	if r == nil || o == nil {
		return r == o
	}
	return similar(r.Waiting, o.Waiting) && similar(r.Pruning, o.Pruning) && maps.EqualFunc(r.Held, o.Held, similar) &&
		maps.EqualFunc(r.Failed, o.Failed, func(a, b Failure) bool { return a.Digest == b.Digest && similar(a.Message, b.Message) })
}

// similar reports whether two texts differ in nothing but measures.
func similar(a, b string) bool {
	if a == b {
		return true
	}
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] && (!isMeasure(x[i]) || !isMeasure(y[i])) {
			return false
		}
	}
	return true
}

// isMeasure reports whether a word is a number, a count as 1/2, a percentage, an address with a port, a duration or a time.
func isMeasure(word string) bool {
	if !strings.ContainsFunc(word, unicode.IsDigit) {
		return false
	}
	if !strings.ContainsFunc(word, unicode.IsLetter) {
		return true
	}
	word = strings.Trim(word, `()"',;`)
	if isAddress(word) {
		return true
	}
	word = strings.TrimRight(word, ".:")
	_, badDuration := time.ParseDuration(word)
	_, badTime := time.Parse(time.RFC3339, word)
	return badDuration == nil || badTime == nil
}

// isAddress reports whether a word is an IP address with a port, or two of them as in from->to.
func isAddress(word string) bool {
	for addr := range strings.SplitSeq(strings.TrimSuffix(word, ":"), "->") {
		if _, err := netip.ParseAddrPort(addr); err != nil {
			return false
		}
	}
	return true
}
