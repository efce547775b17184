// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/lru"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

// Bounds of rules.
const (
	cachedRules = 256
	ruleCost    = 100_000
)

// rules evaluates expressions, and keeps the compiled ones.
type rules struct {
	env      func() (*cel.Env, error)
	programs *lru.Cache // Expression to cel.Program.
}

func newRules() *rules {
	return &rules{
		env:      sync.OnceValues(func() (*cel.Env, error) { return cel.NewEnv(cel.Variable("object", cel.DynType)) }),
		programs: lru.New(cachedRules),
	}
}

// Validate says what is wrong with the rule, as the engine would when it comes to it.
func (r Rule) Validate() error {
	if err := r.validate(); err != nil || r.Func != nil {
		return err
	}
	_, err := newRules().program(r.CEL)
	return err
}

// program of an expression.
func (r *rules) program(expr string) (cel.Program, error) {
	if p, ok := r.programs.Get(expr); ok {
		return p.(cel.Program), nil //nolint:forcetypeassert // Only programs are put in.
	}
	env, err := r.env()
	if err != nil {
		return nil, errors.Wrap(err, "cannot make a CEL environment")
	}
	ast, issues := env.Compile(expr)
	if issues.Err() != nil {
		return nil, errors.Errorf("readiness rule %q: %s", expr, oneLine(issues.Err().Error()))
	}
	if t := ast.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, errors.Errorf("readiness rule %q is of type %s and must be of type bool", expr, t)
	}
	p, err := env.Program(ast, cel.CostLimit(ruleCost))
	if err != nil {
		return nil, errors.Errorf("readiness rule %q: %s", expr, oneLine(err.Error()))
	}
	r.programs.Add(expr, p)
	return p, nil
}

// eval a rule. A field that is missing makes the object not ready.
func (r *rules) eval(ctx context.Context, expr string, u *unstructured.Unstructured) (State, string) {
	p, err := r.program(expr)
	if err != nil {
		return Error, err.Error()
	}
	v, _, err := p.ContextEval(ctx, map[string]any{"object": u.Object})
	switch {
	case err != nil && strings.Contains(err.Error(), "no such key"):
		return Processing, fmt.Sprintf("readiness rule %q: %s", expr, oneLine(err.Error()))
	case err != nil:
		return Error, fmt.Sprintf("readiness rule %q: %s", expr, oneLine(err.Error()))
	case v.Value() == true:
		return Ready, ""
	case v.Value() != false:
		return Error, fmt.Sprintf("readiness rule %q gives a value of type %s and must give a bool", expr, v.Type().TypeName())
	}
	return Processing, fmt.Sprintf("readiness rule %q is not met", expr)
}

// byState is the rule for a custom resource that has none: its .status.state, as modules of Kyma report it.
var byState = &Rule{} //nolint:gochecknoglobals // Constant.

// ruleFor an object; nil where kstatus alone decides.
func (w *work) ruleFor(en *entry) *Rule {
	gk := en.key().GroupKind()
	for i := range w.s.Readiness {
		if r := &w.s.Readiness[i]; r.For == gk || (r.For.Empty() && en.Stage == stageResource) {
			return r
		}
	}
	if en.Stage == stageResource {
		return byState
	}
	return nil
}

// judged by a rule. The verdict holds as long as the object and the rule are the same.
func (w *work) judged(ctx context.Context, en *entry, sum cluster.ObjectState, rule *Rule) (State, string, error) {
	k := en.key()
	if v, ok := w.mem.judged[k]; ok && v.resourceVersion == sum.ResourceVersion && v.rule == rule.id() {
		return v.state, v.message, nil
	}
	u, err := w.get(ctx, en.gvk(), k)
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
			return Error, oneLine(err.Error()), nil
		}
	case rule == byState:
		v.state, v.message = stateOf(u, sum)
	default:
		v.state, v.message = w.e.rules.eval(ctx, rule.CEL, u)
	}
	w.mem.judged[k] = v
	return v.state, v.message, nil
}

func byStatus(sum cluster.ObjectState) (State, string) {
	switch sum.Status {
	case cluster.Current:
		return Ready, ""
	case cluster.Failed:
		return Error, or(sum.Message, "has failed")
	case cluster.InProgress, cluster.Terminating:
	}
	return Processing, or(sum.Message, "is not ready")
}

// describe a state by the first condition that is not True.
func describe(status map[string]any, state string) string {
	text := "status.state is " + state
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		m, ok := c.(map[string]any)
		if !ok || m["status"] == "True" {
			continue
		}
		if message, ok := m["message"].(string); ok && message != "" {
			return text + ": " + oneLine(message)
		}
	}
	return text
}
