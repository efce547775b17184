// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A Run records the progress of the hooks of one event. It is saved before each creation and each deletion of a hook, so that no
// successful hook runs twice and none is lost.
type Run struct {
	// ID identifies the run. It is unique, because the cluster may contain hooks of other runs, including those of a removed bundle
	// with the same name.
	ID string `json:"id"`
	// Event is the event whose hooks run.
	Event Event `json:"event"`
	// Inputs is the digest of the inputs of the part. Content is the digest without labels, which older versions did not store.
	// Retry is the retry token of the call that began the run.
	Inputs  string `json:"inputs,omitempty"`
	Content string `json:"content,omitempty"`
	Retry   string `json:"retry,omitempty"`
	// Revision is the revision of the release to install. Before is the deployed revision that it replaces. 0 means none.
	Revision int `json:"revision,omitempty"`
	Before   int `json:"before,omitempty"`
	// Recorded is true once the revision has a record in the cluster.
	Recorded bool `json:"recorded,omitempty"`
	// Index is the index of the current hook, in the order of the event. After the last hook, it is the number of hooks.
	Index int `json:"index,omitempty"`
	// UID is the UID of the object of the current hook. It is empty until the object is known to exist. Started is the start time of
	// the hook in Unix seconds.
	UID     string `json:"uid,omitempty"`
	Started int64  `json:"started,omitempty"`
	// Extended is true if the timeout of the current hook began again, at Started, because another process had started the hook.
	Extended bool `json:"extended,omitempty"`
	// Done counts the hooks that succeeded, including those of earlier events.
	Done int `json:"done,omitempty"`
	// Failed is the reason why a hook failed, or empty. Over is true once the event requires no further work.
	Failed string `json:"failed,omitempty"`
	Over   bool   `json:"over,omitempty"`
}

// NewRun returns a copy of a run with a new ID. The run begins once it is saved.
func NewRun(r Run) *Run {
	r.ID = rand.Text()
	return &r
}

// Next moves the run to the beginning of another event.
func (r *Run) Next(event Event) {
	r.Event, r.Index, r.UID, r.Started, r.Extended, r.Over = event, 0, "", 0, false, false
}

// HasBegun reports whether a hook of the event has started.
func (r *Run) HasBegun() bool { return r.Started != 0 || r.Index != 0 }

// BlocksRemoval reports whether a failed hook blocks the deletion of the objects of the part. The run may be nil.
func (r *Run) BlocksRemoval() bool { return r != nil && r.Event.Blocks() && r.Over && r.Failed != "" }

// HookID returns the ID of a hook of the run, which is the value of object.AnnotationHookRun on the hook's object.
func (r *Run) HookID(set string, part object.PartID, index int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %s %d", set, string(part), r.ID, r.Event, index))
	return hex.EncodeToString(sum[:16])
}
