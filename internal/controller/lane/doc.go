// SPDX-License-Identifier: Apache-2.0

// Package lane says which passes of the reconcilers wait for which. What a
// template, a config or a poll causes concerns a whole fleet, and is queued with
// low priority, so that what a user changes is served before it. Why a Manifest
// was written is known in the process only: after a restart all that exists is
// queued with low priority anyway.
package lane
