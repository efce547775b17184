// SPDX-License-Identifier: Apache-2.0

package inventory

// An Event is a point at which Helm runs hooks.
type Event string

// These are the hook events of Helm.
const (
	PreInstall   Event = "pre-install"
	PostInstall  Event = "post-install"
	PreUpgrade   Event = "pre-upgrade"
	PostUpgrade  Event = "post-upgrade"
	PreRollback  Event = "pre-rollback"
	PostRollback Event = "post-rollback"
	PreDelete    Event = "pre-delete"
	PostDelete   Event = "post-delete"
	Test         Event = "test"
)

// IsPost reports whether the hooks of the event run after the objects of the chart are applied.
func (e Event) IsPost() bool { return e == PostInstall || e == PostUpgrade || e == PostRollback }

// IsDeletion reports whether the hooks of the event run during a removal.
func (e Event) IsDeletion() bool { return e == PreDelete || e == PostDelete }

// Blocks reports whether a failed hook of the event blocks a removal. As in Helm, a hook that fails after the objects were
// deleted does not block it.
func (e Event) Blocks() bool { return e == PreDelete }
