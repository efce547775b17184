// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/execute"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// A Result says what Apply did.
type Result = execute.Result

// A Preview is what one part of a bundle would apply, as far as that is known without a cluster.
type Preview = compose.Preview

type (
	// An Observation is what was seen of a bundle.
	Observation = observe.Observation
	// A PartState is the state of one part of a bundle.
	PartState = observe.PartState
	// A PartKind says what a part of a bundle is.
	PartKind = object.PartKind
	// A Phase says where a part of a bundle stands.
	Phase = observe.Phase
	// A TestState is the state of one test hook.
	TestState = observe.TestState
	// A Drift is one object that another client changed or deleted.
	Drift = observe.Drift
	// A DriftKind says what another client did to an object.
	DriftKind = observe.DriftKind
	// A CededField is a field that is left to another manager.
	CededField = observe.CededField
)

// The kinds of parts.
const (
	PartKindInstall  = object.PartKindInstall
	PartKindCRDs     = object.PartKindCRDs
	PartKindResource = object.PartKindResource
)

// The kinds of drift. With DriftForeign, what replaced the object does not belong to the bundle.
const (
	DriftChanged  = observe.DriftChanged
	DriftDeleted  = observe.DriftDeleted
	DriftReplaced = observe.DriftReplaced
	DriftForeign  = observe.DriftForeign
)

// The phases of a part. A State groups several of them.
const (
	PhaseReady         = observe.PhaseReady
	PhaseMissing       = observe.PhaseMissing
	PhaseApplying      = observe.PhaseApplying
	PhaseHooksRunning  = observe.PhaseHooksRunning
	PhaseBlocked       = observe.PhaseBlocked
	PhaseDrifted       = observe.PhaseDrifted
	PhaseProgressing   = observe.PhaseProgressing
	PhasePruning       = observe.PhasePruning
	PhaseLeaving       = observe.PhaseLeaving
	PhaseCeded         = observe.PhaseCeded
	PhaseChanged       = observe.PhaseChanged
	PhaseBroken        = observe.PhaseBroken
	PhaseContended     = observe.PhaseContended
	PhaseDegraded      = observe.PhaseDegraded
	PhaseFailed        = observe.PhaseFailed
	PhaseHookFailed    = observe.PhaseHookFailed
	PhaseUnreadable    = observe.PhaseUnreadable
	PhaseUnhealthy     = observe.PhaseUnhealthy
	PhaseRemovalFailed = observe.PhaseRemovalFailed
	PhaseTerminating   = observe.PhaseTerminating
)

// An OwnedError is returned for an inventory that belongs to another owner than the bundle that has its name.
type OwnedError = inventory.OwnedError

// A ChangedError is returned where another client changed the inventory of a bundle, or deleted it, during a call. The call stops, and
// the next one begins with what the inventory has by then.
type ChangedError = inventory.ChangedError

// A Removal says how far the removal of a bundle has come.
type Removal = teardown.Removal
