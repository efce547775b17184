// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// A Getter reads whole objects.
type Getter interface {
	// Get returns an object; nil where the object or its kind does not exist.
	Get(ctx context.Context, gvk schema.GroupVersionKind, r cluster.ObjectRef) (*unstructured.Unstructured, error)
}

// Evaluations caches what rules said of objects.
type Evaluations map[cluster.ObjectRef]evaluation

// An evaluation of a rule on one version of an object.
type evaluation struct {
	resourceVersion string
	rule            string
	state           health.State
	message         string
}

// Health evaluates the readiness rules of a bundle. It is not safe for concurrent use.
type Health struct {
	Objects Getter
	// Expressions evaluates the rules that are CEL.
	Expressions *health.Rules
	// Readiness rules of the bundle. The custom resource needs none: its .status.state counts, as modules of Kyma report it.
	Readiness []bundle.Rule
	// Evaluations must not be nil.
	Evaluations Evaluations
}

// ruleFor returns the rule for an object, nil for a custom resource that has none and whose .status.state counts; false where kstatus
// alone decides.
func (h *Health) ruleFor(en *inventory.Entry) (*bundle.Rule, bool) {
	gk := en.Ref().GroupKind()
	for i := range h.Readiness {
		if r := &h.Readiness[i]; r.For == gk || (r.For.Empty() && en.Stage == object.StageResource) {
			return r, true
		}
	}
	return nil, en.Stage == object.StageResource
}

// Applies reports whether a rule is for an object.
func (h *Health) Applies(en *inventory.Entry) bool {
	_, ok := h.ruleFor(en)
	return ok
}

// Evaluate the rule for an object, which is read unless it and the rule are those of before. The error is that it cannot be read.
func (h *Health) Evaluate(ctx context.Context, en *inventory.Entry, s cluster.ObjectState) (health.State, string, error) {
	k, id := en.Ref(), ""
	rule, _ := h.ruleFor(en)
	if rule != nil {
		id = rule.ID()
	}
	if v, ok := h.Evaluations[k]; ok && v.resourceVersion == s.ResourceVersion && v.rule == id {
		return v.state, v.message, nil
	}
	u, err := h.Objects.Get(ctx, en.GVK(), k)
	if err != nil {
		return health.Processing, "", err
	}
	if u == nil {
		return health.Processing, "is gone", nil
	}
	v := evaluation{resourceVersion: u.GetResourceVersion(), rule: id}
	switch {
	case rule == nil:
		v.state, v.message = health.OfCustomResource(u, s)
	case rule.Func != nil:
		if v.state, v.message, err = rule.Evaluate(ctx, u); err != nil {
			// Not cached: what failed may succeed for the same version of the object.
			return health.Error, text.OneLine(err.Error()), nil
		}
	default:
		v.state, v.message = h.Expressions.Evaluate(ctx, rule.CEL, u)
	}
	h.Evaluations[k] = v
	return v.state, v.message, nil
}
