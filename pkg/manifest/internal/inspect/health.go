// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/bundle"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// Evaluations caches the results of readiness rules.
type Evaluations map[cluster.ObjectRef]evaluation

// An evaluation is the result of a rule for one version of an object.
type evaluation struct {
	resourceVersion string
	rule            string
	state           health.State
	message         string
}

// A RuleEvaluator evaluates the readiness rules of a bundle. It is not safe for concurrent use.
type RuleEvaluator struct {
	Objects Reader
	// Expressions evaluates CEL rules.
	Expressions *health.Rules
	// Readiness lists the readiness rules of the bundle. The custom resource does not require one: by default, its .status.state
	// determines its health, as Kyma modules report it.
	Readiness []bundle.Rule
	// Evaluations is the cache of the results. It must not be nil.
	Evaluations Evaluations
}

// ruleFor returns the readiness rule for an object. If it returns nil and true, .status.state determines the health of the custom
// resource. If it returns false, no rule applies and kstatus determines the health.
func (e *RuleEvaluator) ruleFor(en *inventory.Entry) (*bundle.Rule, bool) {
	gk := en.Ref().GroupKind()
	for i := range e.Readiness {
		if r := &e.Readiness[i]; r.For == gk || (r.For.Empty() && en.Stage == object.StageResource) {
			return r, true
		}
	}
	return nil, en.Stage == object.StageResource
}

// Applies reports whether a readiness rule applies to an object. For the custom resource, this includes the default rule.
func (e *RuleEvaluator) Applies(en *inventory.Entry) bool {
	_, ok := e.ruleFor(en)
	return ok
}

// Kinds returns the distinct kinds of the objects of an inventory that readiness rules apply to.
func (e *RuleEvaluator) Kinds(inv *inventory.Inventory) []schema.GroupKind {
	var out []schema.GroupKind
	for i := range inv.Objects {
		en := &inv.Objects[i]
		if gk := en.Ref().GroupKind(); e.Applies(en) && !slices.Contains(out, gk) {
			out = append(out, gk)
		}
	}
	return out
}

// Evaluate returns the state of an object according to its readiness rule, with a message. It reads the object only if the object
// or the rule changed since the last call. It returns an error if it cannot read the object.
func (e *RuleEvaluator) Evaluate(ctx context.Context, en *inventory.Entry, s cluster.ObjectState) (health.State, string, error) {
	k, id := en.Ref(), ""
	rule, _ := e.ruleFor(en)
	if rule != nil {
		id = rule.ID()
	}
	if v, ok := e.Evaluations[k]; ok && v.resourceVersion == s.ResourceVersion && v.rule == id {
		return v.state, v.message, nil
	}
	u, err := e.Objects.Get(ctx, en.GVK(), k)
	if err != nil {
		return health.Processing, "", err
	}
	if u == nil {
		return health.Processing, "no longer exists", nil
	}
	v := evaluation{resourceVersion: u.GetResourceVersion(), rule: id}
	switch {
	case rule == nil:
		v.state, v.message = health.OfCustomResource(u, s)
	case rule.Func != nil:
		if v.state, v.message, err = rule.Evaluate(ctx, u); err != nil {
			// Do not cache an error: the rule may succeed for the same version of the object.
			return health.Error, text.OneLine(err.Error()), nil
		}
	default:
		v.state, v.message = e.Expressions.Evaluate(ctx, rule.CEL, u)
	}
	e.Evaluations[k] = v
	return v.state, v.message, nil
}
