// SPDX-License-Identifier: Apache-2.0

package inventory

// An Event is when Helm runs hooks.
type Event string

// The events of Helm.
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

// IsPost reports whether the hooks of the event come after the objects of the chart were applied.
func (e Event) IsPost() bool { return e == PostInstall || e == PostUpgrade || e == PostRollback }

// IsDeletion reports whether the event is one of a removal.
func (e Event) IsDeletion() bool { return e == PreDelete || e == PostDelete }

// Blocks reports whether a hook that failed at an event of a removal keeps the objects from being deleted. One that fails after
// they were deleted does not, as with Helm.
func (e Event) Blocks() bool { return e == PreDelete }
