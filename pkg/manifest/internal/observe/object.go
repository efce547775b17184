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

// A standing is what an entry of the inventory means for its part.
type standing int

const (
	// expected is an object that should exist.
	expected standing = iota
	// unreadable is an object that the credentials may not read.
	unreadable
	// pruned is an object that the bundle no longer contains.
	pruned
	// pending is an object that is not applied yet.
	pending
	// dismissed is the custom resource of the bundle after its users deleted it. The engine creates it only once.
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
	case en.IsDismissed(exists):
		return dismissed
	}
	return expected
}

// FindDrift returns how an object differs from what was applied, without its fields. It returns false if the object does not
// differ.
func FindDrift(en *inventory.Entry, state cluster.ObjectState, exists bool) (Drift, bool) {
	switch {
	case en.Stage == object.StageResource:
		return Drift{}, false
	case !exists:
		return Drift{Key: en.Ref(), Kind: DriftDeleted}, true
	case state.Status == cluster.Terminating:
		// It is recreated once it is gone.
		return Drift{}, false
	case state.UID != en.UID:
		return Drift{Key: en.Ref(), Kind: DriftReplaced}, true
	case state.Owned != en.Owned:
		return Drift{Key: en.Ref()}, true
	}
	return Drift{}, false
}

// An Evaluator evaluates readiness rules.
type Evaluator interface {
	// Applies reports whether a rule applies to an object.
	Applies(en *inventory.Entry) bool
	// Evaluate evaluates the rule for an object. It returns an error if it cannot read the object.
	Evaluate(ctx context.Context, en *inventory.Entry, state cluster.ObjectState) (health.State, string, error)
}

// HealthOf returns the state of an object that has not drifted, and a message for any state but Ready. Without a rule, the status
// of the object counts.
func HealthOf(ctx context.Context, e Evaluator, en *inventory.Entry, state cluster.ObjectState) (health.State, string, error) {
	if isRuled(e, en, state) {
		return e.Evaluate(ctx, en, state)
	}
	s, message := health.OfStatus(state)
	return s, message, nil
}

// isRuled reports whether a readiness rule decides about an object. None decides about an object that is being deleted.
func isRuled(e Evaluator, en *inventory.Entry, state cluster.ObjectState) bool {
	return state.Status != cluster.Terminating && e.Applies(en)
}

// A Comparer finds out how objects differ from what was applied.
type Comparer interface {
	// Compare compares a drifted object with what was applied. It returns an error if it cannot read the object.
	Compare(ctx context.Context, en *inventory.Entry, d Drift, state cluster.ObjectState) (Difference, error)
}

// Gather sets Health for the objects that have a rule, and under the policy Report also Differences for drifted objects. Set all
// other fields first. Gather sends no requests for objects whose answers would not matter.
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

// compare compares an object with what was applied if the policy requires it. It reports whether the health of the object counts.
func (in *Input) compare(ctx context.Context, c Comparer, en *inventory.Entry, state cluster.ObjectState, exists bool) (bool, error) {
	d, ok := FindDrift(en, state, exists)
	if !ok {
		return true, nil
	}
	switch in.Drift {
	case bundle.DriftIgnore:
		return d.Kind != DriftDeleted, nil
	case bundle.DriftReport:
		found, err := c.Compare(ctx, en, d, state)
		if err != nil {
			return false, err
		}
		in.Differences[en.Ref()] = found
		return !found.breaks(), nil
	case bundle.DriftRepair:
	}
	return false, nil
}

// Unready returns the first object of a part that is not ready, with the reason. It returns false if all objects are ready.
func Unready(
	ctx context.Context, e Evaluator, inv *inventory.Inventory, objects map[cluster.ObjectRef]cluster.ObjectState, part object.PartID,
) (why string, unready bool, err error) {
	for i := range inv.Objects {
		en := &inv.Objects[i]
		if en.Part != part || en.Pruned {
			continue
		}
		s, exists := objects[en.Ref()]
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
