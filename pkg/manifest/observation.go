// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/compose"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/execute"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/observe"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/teardown"
)

// A Result contains what Apply did.
type Result = execute.Result

// Released describes a custom resource that a bundle released because the name or namespace of its resource has changed.
type Released = execute.Released

// A HandedOver is a CRD that stays in the cluster because other bundles use it. One of them becomes its owner.
type HandedOver = teardown.HandedOver

// A SharedCRD is a CRD that existed before the bundle, which uses it as it is, or owns it now.
type SharedCRD = execute.SharedCRD

// A Preview contains what one part of a bundle would apply, as far as that is known without a cluster.
type Preview = compose.Preview

type (
	// An Observation is the observed state of a bundle.
	Observation = observe.Observation
	// A PartState is the state of one part of a bundle.
	PartState = observe.PartState
	// A PartKind is the kind of a part of a bundle.
	PartKind = object.PartKind
	// A Phase is the phase of a part of a bundle.
	Phase = observe.Phase
	// A TestState is the state of one test hook.
	TestState = observe.TestState
	// A Drift is an object that another client changed or deleted.
	Drift = observe.Drift
	// A DriftKind is the kind of change that another client made to an object.
	DriftKind = observe.DriftKind
	// A CededField is a field that the engine leaves to another manager.
	CededField = observe.CededField
)

// Kinds of parts.
const (
	PartKindInstall  = object.PartKindInstall
	PartKindCRDs     = object.PartKindCRDs
	PartKindResource = object.PartKindResource
)

// Kinds of drift. DriftForeign means that the object was replaced with an object that does not belong to the bundle.
// DriftTakenOver means that the object belongs to another bundle.
const (
	DriftChanged   = observe.DriftChanged
	DriftDeleted   = observe.DriftDeleted
	DriftReplaced  = observe.DriftReplaced
	DriftForeign   = observe.DriftForeign
	DriftTakenOver = observe.DriftTakenOver
)

// Phases of a part. A State groups several of them.
const (
	PhaseReady         = observe.PhaseReady
	PhaseMissing       = observe.PhaseMissing
	PhaseApplying      = observe.PhaseApplying
	PhaseHooksRunning  = observe.PhaseHooksRunning
	PhaseBlocked       = observe.PhaseBlocked
	PhaseDrifted       = observe.PhaseDrifted
	PhaseProgressing   = observe.PhaseProgressing
	PhasePruning       = observe.PhasePruning
	PhaseRemoving      = observe.PhaseRemoving
	PhaseCeded         = observe.PhaseCeded
	PhaseChanged       = observe.PhaseChanged
	PhaseBroken        = observe.PhaseBroken
	PhaseTakenOver     = observe.PhaseTakenOver
	PhaseContended     = observe.PhaseContended
	PhaseDegraded      = observe.PhaseDegraded
	PhaseFailed        = observe.PhaseFailed
	PhaseRetrying      = observe.PhaseRetrying
	PhaseHookFailed    = observe.PhaseHookFailed
	PhaseUnreadable    = observe.PhaseUnreadable
	PhaseUnhealthy     = observe.PhaseUnhealthy
	PhaseRemovalFailed = observe.PhaseRemovalFailed
	PhaseTerminating   = observe.PhaseTerminating
)

// A WrongClusterError means that the connection leads to a different cluster than the one that contains the bundle.
type WrongClusterError = inventory.WrongClusterError

// An InterruptedError means that a write was not sent. Before each attempt, the network connection was interrupted, so that it was unknown
// which cluster would receive the write.
type InterruptedError = ssa.InterruptedError

// An OwnedError means that the inventory does not belong to the owner of the bundle.
type OwnedError = inventory.OwnedError

// A ChangedError means that another client changed or deleted the inventory of a bundle during a call. The call stops, and the
// next call starts from the changed inventory.
type ChangedError = inventory.ChangedError

// A LeftBehind is an object that is not changed, because it is not the applied one.
type LeftBehind = teardown.LeftBehind

// Rebuilt describes an inventory that was rebuilt from the objects in the cluster, because it was lost.
type Rebuilt = inventory.Rebuilt

// A Removal is the progress of removing a bundle.
type Removal = teardown.Removal

// A State is the state of a bundle, or of a part of it.
type State = health.State

// States in the order of their urgency, the most urgent last.
const (
	Ready      = health.Ready
	Processing = health.Processing
	Warning    = health.Warning
	Error      = health.Error
	Deleting   = health.Deleting
)
