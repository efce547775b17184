// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A PartState is the state of one part of a bundle.
type PartState struct {
	// Kind of the part, and the name of an install; empty for other parts.
	Kind    object.PartKind
	Install string
	// Phase of the part, and the State that follows from it. For any State but Ready, Message is the first thing to look at.
	Phase   Phase
	State   health.State
	Message string
	// Version of the chart that is installed.
	Version string
}

// Title returns what the part is called in messages: the name of an install, crds or resource.
func (p *PartState) Title() string {
	if p.Kind != object.PartKindInstall {
		return p.Kind.String()
	}
	return p.Install
}

// An Observation is what was seen of a bundle.
type Observation struct {
	// Exists says that the cluster holds an inventory of the bundle.
	Exists bool
	// UpToDate says that Apply has nothing to do.
	UpToDate bool
	// State of the whole bundle. For any State but Ready, Message is the first thing to look at.
	State   health.State
	Message string
	// Parts in the order of the bundle.
	Parts []PartState
	// Ready is the number of ready objects, and Total that of all objects.
	Ready, Total int
	// Drift is what differs from what was applied.
	Drift []Drift
	// Works is true for a State Warning where all objects exist and work: the warning is only that other clients changed some of
	// them or own fields of them, and that this is left as it is.
	Works bool
	// Atomic is how long an upgrade may take before it is to be rolled back, where the config of some install asks for
	// that: the longest of their timeouts, by default 5 minutes; 0 where none does.
	Atomic time.Duration
	// Checkpoint is the last known good revision, as the option WithCheckpoint described it; nil for none. NotKept says why that
	// of this call cannot be kept.
	Checkpoint []byte
	NotKept    string
	// Tests are the tests that ran for TestToken, or are about to.
	Tests     []TestState
	TestToken string
}

// A TestState is the state of one test hook.
type TestState struct {
	// Install that the test belongs to, and its kind and name.
	Install, Name string
	// State is Processing, Ready for a test that succeeded, or Error, for which Message says why.
	State   health.State
	Message string
}

// A DriftKind says what another client did to an object.
type DriftKind int

// The kinds of drift.
const (
	// DriftChanged means that fields of the object were changed or removed.
	DriftChanged DriftKind = iota
	// DriftDeleted means that the object is missing.
	DriftDeleted
	// DriftReplaced and DriftForeign mean that there is another object in its place; with DriftForeign that one does not belong to
	// the bundle.
	DriftReplaced
	DriftForeign
)

// A Drift is one object that another client changed or deleted.
type Drift struct {
	Key  cluster.ObjectRef
	Kind DriftKind
	// Fields that were changed or removed, as paths. Values are never part of it. Observe leaves them out where the object
	// is about to be repaired.
	Fields []string
}

// String names the object and the fields.
func (d Drift) String() string {
	switch d.Kind {
	case DriftDeleted:
		return d.Key.String() + " was deleted"
	case DriftForeign:
		return d.Key.String() + " was replaced by one that does not belong to this module"
	case DriftReplaced:
		return d.Key.String() + " was replaced by another one"
	case DriftChanged:
	}
	if len(d.Fields) == 0 {
		return d.Key.String() + " was changed"
	}
	return fmt.Sprintf("%s was changed at %s", d.Key, strings.Join(d.Fields, ", "))
}

// A CededField is a field that is left to another manager.
type CededField struct {
	Key cluster.ObjectRef
	// Field as a path.
	Field string
	// Manager that sets the field, as managedFields names it; empty if unknown.
	Manager string
	// Contended says that the field was repaired again and again before it was left to the manager. Otherwise the manager owns it
	// by the way Kubernetes works.
	Contended bool
}

// String names object, field and manager.
func (c CededField) String() string {
	if c.Contended {
		return fmt.Sprintf("%s: %s was set again and again by %s, and is left to it", c.Key, c.Field, cmp.Or(c.Manager, "somebody else"))
	}
	return fmt.Sprintf("%s: %s is left to %s", c.Key, c.Field, c.Manager)
}

// conclude sets the state of the whole to that of the most urgent part.
func (o *Observation) conclude() {
	for i := range o.Parts {
		p := &o.Parts[i]
		if p.State.MoreUrgentThan(o.State) || (o.State == health.Ready && o.Message == "" && p.Message != "") {
			o.State = p.State
			o.Message = p.Title() + ": " + p.Message
		}
	}
}
