// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"time"
)

// Recovery is how long it may take until a cluster that was away is checked again: the longest pause, and some more.
const Recovery = 90 * time.Second

const (
	// Patience is how long something may take that usually takes a few seconds. Two cores carry all servers.
	Patience = 60 * time.Second
	// Calm is how long something must hold that must not happen.
	Calm = 3 * time.Second
	// Interval between two looks.
	Interval = 200 * time.Millisecond
	// StartTimeout includes building the servers, when no one has built them yet.
	StartTimeout = 25 * time.Minute
)

// Env is what all specs share. It is set before the first spec.
var Env *Environment
