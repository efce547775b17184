// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"
)

// A State is the short form of what an Observation says.
type State string

// The states, the most urgent last.
const (
	Ready      State = "Ready"
	Processing State = "Processing"
	Warning    State = "Warning"
	Error      State = "Error"
	Deleting   State = "Deleting"
)

var urgency = map[State]int{Ready: 0, Processing: 1, Warning: 2, Error: 3, Deleting: 4} //nolint:gochecknoglobals // A constant table.

// A PartState is what became of one part of a set.
type PartState struct {
	// Name of the install; crds and resource for the others.
	Name string
	// State, and for one other than Ready the first thing to look at.
	State   State
	Message string
	// Version of the chart that is installed.
	Version string
	// HooksSkipped counts the hooks of the chart that were not run.
	HooksSkipped int
}

// An Observation is what was seen of a set.
type Observation struct {
	// Exists says that the cluster holds an inventory of the set.
	Exists bool
	// UpToDate says that Apply has nothing to do.
	UpToDate bool
	// State of the whole, and for one other than Ready the first thing to look at.
	State   State
	Message string
	// Parts in the order of the set.
	Parts []PartState
	// Ready objects of how many.
	Ready, Total int
	// Drift is what differs from what was applied.
	Drift []Drift
}

// A Drift is one object that somebody else changed or deleted.
type Drift struct {
	Key Key
	// Deleted says that the object is missing.
	Deleted bool
	// Fields that were changed or removed, as paths. Values are never part of it. Observe leaves them out.
	Fields []string
}

// String names the object and the fields.
func (d Drift) String() string {
	switch {
	case d.Deleted:
		return d.Key.String() + " was deleted"
	case len(d.Fields) == 0:
		return d.Key.String() + " was changed"
	}
	return fmt.Sprintf("%s was changed at %s", d.Key, strings.Join(d.Fields, ", "))
}

// see takes a state of a part, and keeps the message of the most urgent.
func (p *PartState) see(s State, message string) {
	if urgency[s] > urgency[p.State] {
		p.State, p.Message = s, message
	}
}

// conclude the state of the whole from those of the parts.
func (o *Observation) conclude() {
	for i := range o.Parts {
		p := &o.Parts[i]
		if urgency[p.State] > urgency[o.State] {
			o.State = p.State
			o.Message = p.Name + ": " + p.Message
		}
	}
}
