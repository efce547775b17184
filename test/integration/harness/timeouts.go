// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"time"
)

// Recovery is the time limit until a recovered cluster is checked again: the longest pause, and some more.
const Recovery = 90 * time.Second

const (
	// Patience is the time limit for steps that usually take a few seconds. All servers share two cores.
	Patience = 2 * time.Minute
	// Calm is how long specs check that something does not happen.
	Calm = 3 * time.Second
	// Interval is the time between two polls.
	Interval = 200 * time.Millisecond
	// StartTimeout includes the build of the servers, if they are not built yet.
	StartTimeout = 25 * time.Minute
)

// Env is the environment that all specs share. It is set before the first spec.
var Env *Environment
