// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// A State is the state of a component or of a whole module.
type State string

// States in the order of their urgency, the most urgent last.
const (
	Ready      State = "Ready"
	Processing State = "Processing"
	Warning    State = "Warning"
	Error      State = "Error"
	Deleting   State = "Deleting"
)

// urgency ranks the states. The most urgent state has the highest number.
var urgency = map[State]int{Ready: 0, Processing: 1, Warning: 2, Error: 3, Deleting: 4} //nolint:gochecknoglobals // A constant table.

// Valid reports whether a state is one of the constants above.
func (s State) Valid() bool {
	_, ok := urgency[s]
	return ok
}

// MoreUrgentThan reports whether s is more urgent than o.
func (s State) MoreUrgentThan(o State) bool { return urgency[s] > urgency[o] }

// OfStatus returns the state of an object without a readiness rule, and a message for any state but Ready.
func OfStatus(s cluster.ObjectState) (State, string) {
	switch s.Status {
	case cluster.Current:
		return Ready, ""
	case cluster.Failed:
		return Error, cmp.Or(s.Message, "has failed")
	case cluster.InProgress, cluster.Terminating:
	}
	return Processing, cmp.Or(s.Message, "is not ready")
}
