// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/inventory"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// Validate says what is wrong with the rule, as the engine would when it comes to it.
func (r Rule) Validate() error {
	if err := r.validate(); err != nil || r.Func != nil {
		return err
	}
	_, err := health.NewRules().Program(r.CEL)
	return err
}

// byState is the rule for a custom resource that has none: its .status.state, as modules of Kyma report it.
var byState = &Rule{} //nolint:gochecknoglobals // Constant.

// ruleFor an object; nil where kstatus alone decides.
func (w *work) ruleFor(en *inventory.Entry) *Rule {
	gk := en.Ref().GroupKind()
	for i := range w.s.Readiness {
		if r := &w.s.Readiness[i]; r.For == gk || (r.For.Empty() && en.Stage == object.StageResource) {
			return r
		}
	}
	if en.Stage == object.StageResource {
		return byState
	}
	return nil
}

// judged by a rule. The verdict holds as long as the object and the rule are the same.
func (w *work) judged(ctx context.Context, en *inventory.Entry, sum cluster.ObjectState, rule *Rule) (State, string, error) {
	k := en.Ref()
	if v, ok := w.mem.judged[k]; ok && v.resourceVersion == sum.ResourceVersion && v.rule == rule.id() {
		return v.state, v.message, nil
	}
	u, err := w.Get(ctx, en.GVK(), k)
	if err != nil {
		return Processing, "", err
	}
	if u == nil {
		return Processing, "is gone", nil
	}
	v := verdict{resourceVersion: u.GetResourceVersion(), rule: rule.id()}
	switch {
	case rule.Func != nil:
		if v.state, v.message, err = rule.call(ctx, u); err != nil {
			// Not kept: what failed may succeed for the same version of the object.
			return Error, text.OneLine(err.Error()), nil
		}
	case rule == byState:
		v.state, v.message = health.OfCustomResource(u, sum)
	default:
		v.state, v.message = w.e.rules.Evaluate(ctx, rule.CEL, u)
	}
	w.mem.judged[k] = v
	return v.state, v.message, nil
}
