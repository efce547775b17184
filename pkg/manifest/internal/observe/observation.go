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
	// Kind is the kind of the part. Install is the name of the install, or empty for other parts.
	Kind    object.PartKind
	Install string
	// Phase is the phase of the part, and State the state that follows from it. For any State except Ready, Message describes what
	// to check first.
	Phase   Phase
	State   health.State
	Message string
	// Version is the version of the installed chart.
	Version string
}

// Title returns the name of the part for messages: the name of an install, crds or resource.
func (p *PartState) Title() string {
	if p.Kind != object.PartKindInstall {
		return p.Kind.String()
	}
	return p.Install
}

// An Observation is the observed state of a bundle.
type Observation struct {
	// Exists is true if the cluster has an inventory of the bundle.
	Exists bool
	// ClusterUID is the UID of the cluster, or empty if the credentials don't allow reading it. Pass it as Bundle.ClusterUID to
	// all further calls.
	ClusterUID string
	// UpToDate is true if Apply has nothing to do.
	UpToDate bool
	// Installing is true until all parts have been applied completely for the first time.
	Installing bool
	// State is the state of the whole bundle. For any State except Ready, Message describes what to check first.
	State   health.State
	Message string
	// Parts lists the states of the parts in the order of the bundle.
	Parts []PartState
	// Ready is the number of ready objects. Total is the number of all objects.
	Ready, Total int
	// Drift lists the objects that differ from their applied state. It is empty while one of them cannot be compared, so an empty
	// list does not mean that the drift changed.
	Drift []Drift
	// Ceded lists the fields that the engine cedes to other managers.
	Ceded []CededField
	// Works is true for a State Warning if all objects exist and work, and the only reason for the warning is that other clients
	// changed or own fields that the engine does not revert.
	Works bool
	// Atomic is the maximum duration of an upgrade before it must be rolled back. It is the longest timeout of the installs that
	// request a rollback (by default 5 minutes), and 0 if none does.
	Atomic time.Duration
	// Checkpoint is the last known good revision, as passed to WithCheckpoint, or nil. NotKept is the reason why the revision of
	// this call cannot be kept, or empty.
	Checkpoint []byte
	NotKept    string
	// Tests lists the results of the tests for TestToken, including tests that have not run yet.
	Tests     []TestState
	TestToken string
	// SharesCRDs is true if the bundle uses CRDs of other owners.
	SharesCRDs bool
	// Unwatched contains a message for each kind of the bundle that is not watched because the cluster has too many objects of
	// it.
	Unwatched []string
}

// A TestState is the state of one test hook.
type TestState struct {
	// Install is the name of the install that contains the test.
	Install string
	// Key refers to the object of the test. The group is not known.
	Key cluster.ObjectRef
	// State is Processing, Ready if the test succeeded, or Error if it failed. Message is the reason for the failure.
	State   health.State
	Message string
}

// A DriftKind is the kind of change that another client made to an object.
type DriftKind int

// These are the kinds of drift.
const (
	// DriftChanged means that fields of the object were changed or removed.
	DriftChanged DriftKind = iota
	// DriftDeleted means that the object is missing.
	DriftDeleted
	// DriftReplaced means that another object of the bundle has its name. DriftForeign means that an object that does not belong to
	// the bundle has its name.
	DriftReplaced
	DriftForeign
	// DriftTakenOver means that the object belongs to another bundle, which adopted or recreated it.
	DriftTakenOver
)

// A Drift is an object that another client changed or deleted.
type Drift struct {
	Key  cluster.ObjectRef
	Kind DriftKind
	// Fields lists the paths of the changed or removed fields, without values. Observe leaves it empty if the object is about to be
	// repaired.
	Fields []string
	// Owner is the owner of the bundle that the object belongs to if Kind is DriftTakenOver, or empty if it is unknown.
	Owner string
}

// String returns a message that names the object, the kind of drift and the changed fields.
func (d Drift) String() string {
	switch d.Kind {
	case DriftDeleted:
		return d.Key.String() + " was deleted"
	case DriftForeign:
		return d.Key.String() + " was replaced by an object of another owner"
	case DriftReplaced:
		return d.Key.String() + " was replaced by another object"
	case DriftTakenOver:
		return d.Key.String() + " belongs to " + cmp.Or(d.Owner, "another owner")
	case DriftChanged:
	}
	if len(d.Fields) == 0 {
		return d.Key.String() + " was changed"
	}
	return fmt.Sprintf("%s was changed at %s", d.Key, strings.Join(d.Fields, ", "))
}

// A CededField is a field that the engine cedes to another manager.
type CededField struct {
	Key cluster.ObjectRef
	// Field is the path of the field.
	Field string
	// Manager is the manager that sets the field, as in managedFields, or empty if unknown.
	Manager string
	// Contended is true if the engine repaired the field repeatedly before it ceded it. Otherwise the manager owns the field by
	// Kubernetes convention.
	Contended bool
}

// String returns a message that names the object, the field and the manager.
func (c CededField) String() string {
	if c.Contended {
		return fmt.Sprintf("%s: %s is ceded to %s, which changed it repeatedly", c.Key, c.Field, cmp.Or(c.Manager, "another client"))
	}
	return fmt.Sprintf("%s: %s is ceded to %s", c.Key, c.Field, c.Manager)
}

// conclude sets the state of the whole bundle to the state of its most urgent part.
func (o *Observation) conclude() {
	for i := range o.Parts {
		p := &o.Parts[i]
		if p.State.MoreUrgentThan(o.State) || (o.State == health.Ready && o.Message == "" && p.Message != "") {
			o.State = p.State
			o.Message = p.Title() + ": " + p.Message
		}
	}
}
