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

// Reasons say why the last step stopped. They are stored so that another process reports the same. They affect messages only, never
// what a step does.
type Reasons struct {
	// Failed are the parts that could not be applied.
	Failed map[object.PartID]Failure `json:"failed,omitempty"`
	// Held are the parts that wait for an earlier install, and why.
	Held map[object.PartID]string `json:"held,omitempty"`
	// Waiting is what the step waits for, or empty.
	Waiting string `json:"waiting,omitempty"`
	// Pruning is why removed objects and parts could not be deleted, or empty.
	Pruning string `json:"pruning,omitempty"`
}

// A Failure is why a part could not be applied.
type Failure struct {
	// Digest of the inputs that failed.
	Digest string `json:"digest,omitempty"`
	// Message is the error on one line.
	Message string `json:"message"`
}

// Failure returns why the last step could not apply these inputs of a part, or an empty string.
func (r *Reasons) Failure(part object.PartID, digest string) string {
	if f, ok := r.Failed[part]; ok && f.Digest == digest {
		return f.Message
	}
	return ""
}

// Conclude returns the stored form of the reasons why a step stopped, or nil. Pass the retry token of the call. A nil redact
// removes nothing.
func Conclude(i *Inventory, why Reasons, retry string, redact func(text string) string) *Reasons {
	return i.withoutStuck(why, retry).ToStore(redact)
}

// withoutStuck removes the failures of hooks, because the recorded runs hold them. The token is the retry token of the call.
func (i *Inventory) withoutStuck(r Reasons, retry string) *Reasons {
	r.Failed = maps.Clone(r.Failed)
	maps.DeleteFunc(r.Failed, func(part object.PartID, f Failure) bool {
		rec := i.Parts[part]
		_, stuck := rec.Stuck(f.Digest, retry)
		return stuck
	})
	return &r
}

// maxReason is the maximum length of a stored reason in bytes.
const maxReason = 1024

// ToStore returns the stored form of the reasons, shortened and redacted, or nil if there are none. A nil redact removes nothing.
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

// Bounded redacts a text and shortens it to the maximum length of a reason.
func Bounded(s string, redact func(text string) string) string {
	if redact != nil {
		s = redact(s)
	}
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason-len("…")], "") + "…"
	}
	return s
}

// Same reports whether both have the same reasons. Either may be nil, which means none. It ignores ports, times and counters,
// because they change every time and are not worth a write. Names count, even if they differ only in a digit.
func (r *Reasons) Same(o *Reasons) bool {
	if r == nil || o == nil {
		return r == o
	}
	return similar(r.Waiting, o.Waiting) && similar(r.Pruning, o.Pruning) && maps.EqualFunc(r.Held, o.Held, similar) &&
		maps.EqualFunc(r.Failed, o.Failed, func(a, b Failure) bool { return a.Digest == b.Digest && similar(a.Message, b.Message) })
}

// similar reports whether two texts differ only in measures.
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

// isMeasure reports whether a word is a number, a count such as 1/2, a percentage, an address with a port, a duration or a time.
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
