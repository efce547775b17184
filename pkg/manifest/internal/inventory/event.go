// SPDX-License-Identifier: Apache-2.0

package inventory

import "strings"

// IsPost reports whether the hooks of the run come after the objects of the chart were applied.
func (r *Run) IsPost() bool {
	return strings.HasPrefix(r.Event, "post-") && r.Event != "post-delete"
}

// BlocksRemoval reports whether a hook failed that has to succeed before the objects of the part are deleted. The run may be nil.
func (r *Run) BlocksRemoval() bool {
	return r != nil && r.Event == "pre-delete" && r.Over && r.Failed != ""
}
