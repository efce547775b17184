// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// A standing classifies an entry of the inventory for the observation of its part.
type standing int

const (
	// expected means that the object should exist.
	expected standing = iota
	// unreadable means that the credentials may not read the object.
	unreadable
	// pruned means that the bundle no longer contains the object.
	pruned
	// pending means that the object has not been applied yet.
	pending
	// dismissed means that users deleted the custom resource of the bundle, which the engine creates only once, or that a Job has expired.
	dismissed
)

// standingOf returns the standing of an entry.
func standingOf(en *inventory.Entry, exists bool, denied error) standing {
	switch {
	case denied != nil && en.UID != "":
		return unreadable
	case en.Pruned:
		return pruned
	case en.UID == "":
		return pending
	case en.IsDismissed(exists), en.IsExpired(exists):
		return dismissed
	}
	return expected
}

// FindDrift returns the kind of difference between an object and its applied state, without fields and owner. It returns false
// if there is no difference. set is the ID of the ApplySet.
func FindDrift(en *inventory.Entry, state cluster.ObjectState, exists bool, set string) (Drift, bool) {
	switch {
	case en.IsUsed():
		return findUsedDrift(en, state, exists)
	case IsTakenOver(state, exists, set):
		return Drift{Key: en.Ref(), Kind: DriftTakenOver}, true
	case en.Stage == object.StageResource, en.IsExpired(exists):
		return Drift{}, false
	case !exists:
		return Drift{Key: en.Ref(), Kind: DriftDeleted}, true
	case state.Status == cluster.Terminating:
		// The engine recreates the object once it is gone.
		return Drift{}, false
	case state.UID != en.UID:
		return Drift{Key: en.Ref(), Kind: DriftReplaced}, true
	case state.Owned != en.Owned:
		return Drift{Key: en.Ref()}, true
	}
	return Drift{}, false
}

// findUsedDrift returns how a CRD of another owner differs from the one that the bundle began to use. The owner is part of it, because a
// CRD without an owner may become one of the bundle.
func findUsedDrift(en *inventory.Entry, state cluster.ObjectState, exists bool) (Drift, bool) {
	switch {
	case !exists:
		return Drift{Key: en.Ref(), Kind: DriftDeleted}, true
	case state.Status == cluster.Terminating:
		return Drift{}, false
	case state.UID != en.UID:
		return Drift{Key: en.Ref(), Kind: DriftReplaced}, true
	case !en.Use.Covers(state):
		return Drift{Key: en.Ref()}, true
	}
	return Drift{}, false
}

// IsShared reports whether an object is a CRD that belongs to another owner. Whether the bundle can use it as it is must be checked
// whenever it changes, whatever the drift policy: nothing is repaired.
func IsShared(en *inventory.Entry, state cluster.ObjectState, exists bool, set string) bool {
	return en.IsUsed() || en.Ref().GroupKind() == object.CRDKind && IsTakenOver(state, exists, set)
}

// IsTakenOver reports whether an object belongs to a different bundle than the one with the ID set, which is empty if it is
// unknown. The engine does not change such an object.
func IsTakenOver(state cluster.ObjectState, exists bool, set string) bool {
	return exists && set != "" && state.Set != "" && state.Set != set
}

// An Evaluator evaluates readiness rules.
type Evaluator interface {
	// Applies reports whether a rule applies to an object.
	Applies(en *inventory.Entry) bool
	// Evaluate evaluates the rule for an object. It returns an error if it cannot read the object.
	Evaluate(ctx context.Context, en *inventory.Entry, state cluster.ObjectState) (health.State, string, error)
}

// HealthOf returns the state of an object that has not drifted, and a message for any state except Ready. If no readiness rule
// applies, the status of the object determines the state.
func HealthOf(ctx context.Context, e Evaluator, en *inventory.Entry, state cluster.ObjectState) (health.State, string, error) {
	if isRuled(e, en, state) {
		return e.Evaluate(ctx, en, state)
	}
	s, message := health.OfStatus(state)
	return s, message, nil
}

// isRuled reports whether a readiness rule determines the health of an object. No rule applies while the object is being deleted.
func isRuled(e Evaluator, en *inventory.Entry, state cluster.ObjectState) bool {
	return state.Status != cluster.Terminating && e.Applies(en)
}

// A Comparer compares objects with their applied state.
type Comparer interface {
	// Compare returns how a drifted object differs from its applied state. It returns an error if it cannot read the object.
	Compare(ctx context.Context, en *inventory.Entry, d Drift, state cluster.ObjectState) (Difference, error)
}

// Gather sets Health for the objects that have a rule, and Differences for objects of other bundles and, with the policy Report, for
// all drifted objects. Set all other fields first. Gather sends no requests for objects that do not affect the observation.
func (in *Input) Gather(ctx context.Context, e Evaluator, c Comparer) error {
	in.Health, in.Differences = map[cluster.ObjectRef]Health{}, map[cluster.ObjectRef]Difference{}
	parts := make(map[object.PartID]bool, len(in.Parts))
	for i := range in.Parts {
		parts[in.Parts[i].Name] = true
	}
	for i := range in.Inventory.Objects {
		en := &in.Inventory.Objects[i]
		k := en.Ref()
		state, exists := in.Objects[k]
		if !parts[en.Part] || standingOf(en, exists, in.Denied[k]) != expected {
			continue
		}
		counts, err := in.compare(ctx, c, en, state, exists)
		if err != nil {
			return err
		}
		if !counts || !isRuled(e, en, state) {
			continue
		}
		s, message, err := e.Evaluate(ctx, en, state)
		if err != nil {
			return err
		}
		in.Health[k] = Health{State: s, Message: message}
	}
	return nil
}

// compare compares an object with its applied state if the policy requires it. It reports whether the health of the object is
// relevant.
func (in *Input) compare(ctx context.Context, c Comparer, en *inventory.Entry, state cluster.ObjectState, exists bool) (bool, error) {
	d, ok := FindDrift(en, state, exists, in.Set)
	switch {
	case !ok:
		return true, nil
	case IsShared(en, state, exists, in.Set):
		return false, nil
	case in.Drift == bundle.DriftIgnore && d.Kind != DriftTakenOver:
		return d.Kind != DriftDeleted, nil
	case in.Drift == bundle.DriftReport || d.Kind == DriftTakenOver:
		found, err := c.Compare(ctx, en, d, state)
		if err != nil {
			return false, err
		}
		in.Differences[en.Ref()] = found
		return !found.breaks(), nil
	}
	return false, nil
}

// Unready returns a message about the first object of a part that is not ready. It returns false if all objects are ready.
func Unready(
	ctx context.Context, e Evaluator, inv *inventory.Inventory, objects map[cluster.ObjectRef]cluster.ObjectState, part object.PartID,
) (why string, unready bool, err error) {
	for i := range inv.Objects {
		en := &inv.Objects[i]
		if en.Part != part || en.Pruned {
			continue
		}
		s, exists := objects[en.Ref()]
		if en.IsExpired(exists) {
			continue
		}
		if !exists || en.UID == "" {
			return en.Ref().String() + " is missing", true, nil
		}
		state, message, err := HealthOf(ctx, e, en, s)
		if err != nil {
			return "", false, err
		}
		if state != health.Ready {
			return en.Ref().String() + ": " + message, true, nil
		}
	}
	return "", false, nil
}
