// SPDX-License-Identifier: Apache-2.0

package execute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// An Action is the kind of a Change.
type Action string

// Actions of a Plan. The status and the output of commands show the text of ActionUpdate.
const (
	ActionCreate   Action = "Create"
	ActionUpdate   Action = "Change"
	ActionRecreate Action = "Recreate"
	ActionPrune    Action = "Prune"
)

// A Change describes what a run would do with one object.
type Change struct {
	Key    cluster.ObjectRef
	Action Action
	// Fields contains the paths of fields that would change. It never contains values.
	Fields []string
}

// A Plan describes what runs would do until nothing is left to do, according to a dry run.
type Plan struct {
	// Changes contains the changes in the order in which they would be made.
	Changes []Change
	// Problems describes what cannot be planned or would be refused. Each problem is one line that begins with the name of the part.
	Problems []string
	// Notes contains further information, for example about namespaces that would be created, and hooks that would run.
	Notes []string
	// Basis identifies the state on which the plan is based: the bundle, its inventory, and the known state of its objects.
	Basis string
	// Content identifies the objects and hooks that would be applied, as composed from the basis.
	Content string
}

// Clone returns a deep copy of the plan.
func (p *Plan) Clone() Plan {
	out := *p
	out.Changes, out.Problems, out.Notes = slices.Clone(p.Changes), slices.Clone(p.Problems), slices.Clone(p.Notes)
	for i := range out.Changes {
		out.Changes[i].Fields = slices.Clone(out.Changes[i].Fields)
	}
	return out
}

// Empty reports whether there are neither changes nor problems.
func (p *Plan) Empty() bool {
	return len(p.Changes) == 0 && len(p.Problems) == 0
}

// String returns a line for each change, problem and note.
func (p *Plan) String() string {
	var b strings.Builder
	for i := range p.Changes {
		c := &p.Changes[i]
		fmt.Fprintf(&b, "%s %s", c.Action, c.Key)
		if len(c.Fields) > 0 {
			fmt.Fprintf(&b, ": %s", strings.Join(c.Fields, ", "))
		}
		b.WriteByte('\n')
	}
	for _, problem := range p.Problems {
		fmt.Fprintf(&b, "Problem: %s\n", problem)
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "Note: %s\n", n)
	}
	return b.String()
}
