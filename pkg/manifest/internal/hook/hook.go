// SPDX-License-Identifier: Apache-2.0

package hook

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render/record"
	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/ssa"
)

// A Policy determines when Helm deletes the object of a hook.
type Policy string

// Helm's deletion policies.
const (
	BeforeCreation Policy = "before-hook-creation"
	Succeeded      Policy = "hook-succeeded"
	Failed         Policy = "hook-failed"
)

// A Hook is a rendered hook that is ready to be applied.
type Hook struct {
	object.Desired

	Policies []Policy
	// Identity is unique to the hook and its run. It is the value of object.AnnotationHookRun.
	Identity string
}

// DeletedBy reports whether a policy deletes the object of the hook. Like Helm, it never deletes a CRD, because that would delete
// its custom resources.
func (h *Hook) DeletedBy(p Policy) bool {
	if h.Ref.Kind == object.CRDKind.Kind {
		return false
	}
	if len(h.Policies) == 0 {
		return p == BeforeCreation
	}
	return slices.Contains(h.Policies, p)
}

// A Build converts a rendered hook to the object to apply. The identity is the value of object.AnnotationHookRun.
type Build func(ctx context.Context, h *record.Hook, identity string) (object.Desired, error)

// An Owner returns the part that contains an object, if any.
type Owner func(r cluster.ObjectRef) (part object.PartID, owned bool)

// Prepare returns the hooks of the event of a run, in the order in which they run. The parameter set is the ID of the ApplySet.
// Prepare returns a *ssa.RefusedError if a hook would replace an object of another part. A nil owner skips this check.
func Prepare(
	ctx context.Context, all []record.Hook, set string, part object.PartID, run *inventory.Run, owner Owner, build Build,
) ([]Hook, error) {
	in := order(all, run.Event)
	out := make([]Hook, 0, len(in))
	for i := range in {
		h := Hook{Identity: run.HookID(set, part, i)}
		for _, p := range in[i].DeletePolicies {
			h.Policies = append(h.Policies, Policy(p))
		}
		var err error
		if h.Desired, err = build(ctx, &in[i], h.Identity); err != nil {
			return nil, errors.Wrapf(err, "hook %s of %s", run.Event, in[i].Path)
		}
		if err := checkOwner(&h, part, run, owner); err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// checkOwner returns an error if another part contains the object of the hook.
func checkOwner(h *Hook, part object.PartID, run *inventory.Run, owner Owner) error {
	if owner == nil {
		return nil
	}
	if other, owned := owner(h.Ref); owned && other != part {
		return &ssa.RefusedError{Err: &takenError{event: run.Event, ref: h.Ref, part: other}}
	}
	return nil
}

// A takenError reports a hook that would replace an object of another part.
type takenError struct {
	event inventory.Event
	ref   cluster.ObjectRef
	part  object.PartID
}

// Error names the hook, its object, the other part and the fix.
func (e *takenError) Error() string {
	return fmt.Sprintf("hook %s %s is also part of %s; remove it from one of them", e.event, e.ref, e.part)
}

func isTaken(err error) bool {
	taken := &takenError{}
	return errors.As(err, &taken)
}

// Names returns the display names of the objects of hooks.
func Names(hooks []Hook) []string {
	out := make([]string, 0, len(hooks))
	for i := range hooks {
		out = append(out, hooks[i].Ref.String())
	}
	return out
}

// disposable returns the hooks whose objects are deleted after the event, in Helm's order.
func disposable(run *inventory.Run, hooks []Hook) []*Hook {
	var out []*Hook
	if run.Failed == "" {
		for i := range slices.Backward(hooks) {
			if hooks[i].DeletedBy(Succeeded) {
				out = append(out, &hooks[i])
			}
		}
		return out
	}
	for i := range hooks {
		failed := i == run.Index && hooks[i].DeletedBy(Failed)
		if failed || i < run.Index && hooks[i].DeletedBy(Succeeded) {
			out = append(out, &hooks[i])
		}
	}
	return out
}
