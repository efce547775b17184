// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Run is the progress of the hooks of one event. It is saved before a hook is created and before one is deleted, so that no
// hook that succeeded runs again, and none is forgotten.
type Run struct {
	// ID is unique. Hooks of other runs may exist in the cluster, also those of a removed bundle of the same name.
	ID string `json:"id"`
	// Event of the hooks.
	Event Event `json:"event"`
	// Inputs of the part, and the retry token of the call that began the run.
	Inputs string `json:"inputs,omitempty"`
	Retry  string `json:"retry,omitempty"`
	// Revision of the release that is being installed, and the deployed one before it; 0 for none.
	Revision int `json:"revision,omitempty"`
	Before   int `json:"before,omitempty"`
	// Recorded is true once the revision has a record in the cluster.
	Recorded bool `json:"recorded,omitempty"`
	// Index of the hook that runs, in the order of the event; one past the last after all of them.
	Index int `json:"index,omitempty"`
	// UID of the object of that hook, empty until it is known to exist. Started is when its turn came, in Unix seconds.
	UID     string `json:"uid,omitempty"`
	Started int64  `json:"started,omitempty"`
	// Done counts the hooks that succeeded, including those of earlier events.
	Done int `json:"done,omitempty"`
	// Failed is why a hook failed; empty for none. Over is true once nothing is left to do for the event.
	Failed string `json:"failed,omitempty"`
	Over   bool   `json:"over,omitempty"`
}

// NewRun returns a run with a new ID. It begins once it is saved.
func NewRun(r Run) *Run {
	r.ID = rand.Text()
	return &r
}

// Next begins another event of the same run.
func (r *Run) Next(event Event) {
	r.Event, r.Index, r.UID, r.Started, r.Over = event, 0, "", 0, false
}

// HasBegun reports whether the turn of a hook of the event has come.
func (r *Run) HasBegun() bool { return r.Started != 0 || r.Index != 0 }

// BlocksRemoval reports whether a hook failed that has to succeed before the objects of the part are deleted. The run may be nil.
func (r *Run) BlocksRemoval() bool { return r != nil && r.Event.Blocks() && r.Over && r.Failed != "" }

// HookID returns the identity of a hook of the run, the value of an annotation of its object.
func (r *Run) HookID(set string, part object.PartID, index int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %s %d", set, string(part), r.ID, r.Event, index))
	return hex.EncodeToString(sum[:16])
}
