// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"maps"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// Reasons holds the reasons why the last step stopped. They are stored so that other processes report the same reasons. They
// never affect what a step does. An empty text means that there is no such reason.
type Reasons struct {
	// Failed holds the failures of the parts that could not be applied.
	Failed map[object.PartID]Failure `json:"failed,omitempty"`
	// Held holds the reasons of the parts that wait for an earlier install.
	Held map[object.PartID]string `json:"held,omitempty"`
	// Waiting describes what the step waits for.
	Waiting string `json:"waiting,omitempty"`
	// Pruning is the reason why removed objects and parts could not be deleted.
	Pruning string `json:"pruning,omitempty"`
}

// A Failure is the reason why a part could not be applied.
type Failure struct {
	// Digest is the digest of the inputs that failed.
	Digest string `json:"digest,omitempty"`
	// Message is the error on one line.
	Message string `json:"message"`
	// Transient is true if the next step might succeed with the same inputs.
	Transient bool `json:"transient,omitempty"`
}

// Failure reports whether the last step failed to apply the given inputs of a part, and returns the failure.
func (r *Reasons) Failure(part object.PartID, digest string) (f Failure, failed bool) {
	f, ok := r.Failed[part]
	if !ok || f.Digest != digest {
		return Failure{}, false
	}
	return f, true
}

// Wait reports whether a part waits, and returns the reason: an earlier install, or the condition that the whole step waits for.
func (r *Reasons) Wait(part object.PartID) (reason string, waits bool) {
	if reason, waits = r.Held[part]; waits {
		return reason, true
	}
	return r.Waiting, r.Waiting != ""
}

// PruneFailure reports whether removed objects or parts could not be deleted, and returns the reason.
func (r *Reasons) PruneFailure() (reason string, failed bool) {
	return r.Pruning, r.Pruning != ""
}

// Conclude returns the stored form of the reasons why a step stopped, or nil if there are none. Pass the retry token of the call.
// If redact is nil, nothing is redacted.
func Conclude(i *Inventory, why Reasons, retry string, redact func(text string) string) *Reasons {
	return i.withoutHookFailures(why, retry).ToStore(redact)
}

// withoutHookFailures returns the reasons without the failures of hooks, because the recorded runs contain them. Pass the retry token of
// the call.
func (i *Inventory) withoutHookFailures(r Reasons, retry string) *Reasons {
	r.Failed = maps.Clone(r.Failed)
	maps.DeleteFunc(r.Failed, func(part object.PartID, f Failure) bool {
		rec := i.Parts[part]
		_, failed := rec.HookFailure(Inputs{Digest: f.Digest}, retry)
		return failed
	})
	return &r
}

// IsEmpty reports whether nothing stopped the step.
func (r *Reasons) IsEmpty() bool {
	return len(r.Failed) == 0 && len(r.Held) == 0 && r.Waiting == "" && r.Pruning == ""
}

// maxReason is the maximum length of a stored reason in bytes.
const maxReason = 1024

// ToStore returns the stored form of the reasons, shortened and redacted, or nil if there are none. If redact is nil, nothing is
// redacted.
func (r *Reasons) ToStore(redact func(text string) string) *Reasons {
	if r.IsEmpty() {
		return nil
	}
	out := &Reasons{Waiting: Bounded(r.Waiting, redact), Pruning: Bounded(r.Pruning, redact)}
	if len(r.Failed) > 0 {
		out.Failed = make(map[object.PartID]Failure, len(r.Failed))
	}
	for name, f := range r.Failed {
		out.Failed[name] = Failure{Digest: f.Digest, Message: Bounded(f.Message, redact), Transient: f.Transient}
	}
	if len(r.Held) > 0 {
		out.Held = make(map[object.PartID]string, len(r.Held))
	}
	for name, why := range r.Held {
		out.Held[name] = Bounded(why, redact)
	}
	return out
}

// Bounded redacts a text and shortens it to maxReason bytes. If redact is nil, nothing is redacted.
func Bounded(s string, redact func(text string) string) string {
	if redact != nil {
		s = redact(s)
	}
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason-len("…")], "") + "…"
	}
	return s
}
