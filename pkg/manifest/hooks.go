// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/render"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// Events at which Helm runs hooks.
const (
	eventPreInstall   = "pre-install"
	eventPostInstall  = "post-install"
	eventPreUpgrade   = "pre-upgrade"
	eventPostUpgrade  = "post-upgrade"
	eventPreRollback  = "pre-rollback"
	eventPostRollback = "post-rollback"
	eventPreDelete    = "pre-delete"
	eventPostDelete   = "post-delete"
	eventTest         = "test"
)

// Policies by which Helm deletes hooks.
const (
	policyBefore    = "before-hook-creation"
	policySucceeded = "hook-succeeded"
	policyFailed    = "hook-failed"
)

// annotationHookRun is on each hook that was created, and says which hook of which run it is. It is how a hook is known
// again whose creation nobody could write down any more.
const annotationHookRun = "kyma.m.crossplane.io/hook-run"

// A hook of an event is ready to be sent.
type hook struct {
	object.Desired

	policies []string
	// identity of the hook in its run.
	identity string
}

// deletedBy says whether a policy deletes the hook. Helm never deletes a definition, as all its objects would go too.
func (h *hook) deletedBy(policy string) bool {
	if h.Ref.Kind == object.CRDKind.Kind {
		return false
	}
	if len(h.policies) == 0 {
		return policy == policyBefore
	}
	return slices.Contains(h.policies, policy)
}

// has says whether some of the hooks are for one of the events.
func has(all []render.Hook, events ...string) bool {
	return slices.ContainsFunc(all, func(h render.Hook) bool {
		return slices.ContainsFunc(events, func(e string) bool { return slices.Contains(h.Events, e) })
	})
}

// ordered are the hooks of an event in the order in which Helm runs them: by weight, then by name, then as rendered, which
// is by kind.
func ordered(all []render.Hook, event string) []render.Hook {
	var out []render.Hook
	for _, h := range all {
		for _, e := range h.Events {
			// One that names an event twice runs twice, as in Helm.
			if e == event {
				out = append(out, h)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b render.Hook) int {
		if a.Weight != b.Weight {
			return a.Weight - b.Weight
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// hooksOf a run, ready to be sent.
func (w *work) hooksOf(ctx context.Context, all []render.Hook, partName, namespace string, run *inventory.Run) ([]hook, error) {
	in := ordered(all, run.Event)
	out := make([]hook, 0, len(in))
	for i := range in {
		h, err := w.hookOf(ctx, &in[i], partName, namespace, run.HookID(w.id, partName, i))
		if err != nil {
			return nil, errors.Wrapf(err, "hook %s of %s", run.Event, in[i].Path)
		}
		out = append(out, h)
	}
	return out, nil
}

func (w *work) hookOf(ctx context.Context, h *render.Hook, partName, namespace, identity string) (hook, error) {
	objects, err := render.ChartObjects([]byte(h.Manifest + "\n"))
	if err != nil {
		return hook{}, err
	}
	if len(objects) != 1 || objects[0].GetName() == "" {
		return hook{}, errors.New("must be one object with a name")
	}
	u := objects[0]
	if err := w.transform(ctx, u); err != nil {
		return hook{}, err
	}
	// A definition may be a hook, and hooks after it of its kind.
	w.learn(objects)
	if _, err := w.place(ctx, &installation{namespace: namespace}, u); err != nil {
		return hook{}, err
	}
	object.AddLabels(u, w.labels())
	a := u.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a[annotationHookRun] = identity
	u.SetAnnotations(a)
	o, err := object.New(u, partName, object.StageOf(u.GroupVersionKind().GroupKind()))
	return hook{Desired: o, policies: h.DeletePolicies, identity: identity}, err
}
