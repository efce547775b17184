// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/bytelru"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// Limits of the size of the cached rules in bytes, and of the CEL cost of one evaluation.
const (
	cachedRules = 16 << 20
	ruleCost    = 100_000
)

// Rules evaluates readiness rules, which are CEL expressions over an object, and caches the compiled expressions. It is safe for
// concurrent use.
type Rules struct {
	env      func() (*cel.Env, error)
	programs *bytelru.Cache[string, cel.Program] // Expression to its program.
}

// NewRules returns Rules with an empty cache.
func NewRules() *Rules {
	return &Rules{
		env:      sync.OnceValues(func() (*cel.Env, error) { return cel.NewEnv(cel.Variable("object", cel.DynType)) }),
		programs: bytelru.New[string, cel.Program]("readiness_rules", cachedRules),
	}
}

// Program returns a compiled expression. The error explains why the expression is invalid.
func (r *Rules) Program(expr string) (cel.Program, error) {
	if p, ok := r.programs.Get(expr); ok {
		return p, nil
	}
	env, err := r.env()
	if err != nil {
		return nil, errors.Wrap(err, "cannot create the CEL environment")
	}
	ast, issues := env.Compile(expr)
	if issues.Err() != nil {
		return nil, errors.Errorf("readiness rule %q: %s", expr, text.OneLine(issues.Err().Error()))
	}
	if t := ast.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, errors.Errorf("readiness rule %q has type %s, but must have type bool", expr, t)
	}
	p, err := env.Program(ast, cel.CostLimit(ruleCost), markMissingFields())
	if err != nil {
		return nil, errors.Errorf("readiness rule %q: %s", expr, text.OneLine(err.Error()))
	}
	r.programs.AddSized(expr, p, sizeOfProgram(expr))
	return p, nil
}

// sizeOfProgram returns the maximum size of a program in bytes. Its syntax tree takes at most a few hundred bytes per
// character.
func sizeOfProgram(expr string) int64 { return 4096 + 512*int64(len(expr)) }

// Evaluate evaluates a rule on an object. If a field is missing, the object is not ready.
func (r *Rules) Evaluate(ctx context.Context, expr string, u *unstructured.Unstructured) (State, string) {
	p, err := r.Program(expr)
	if err != nil {
		return Error, err.Error()
	}
	v, _, err := p.ContextEval(ctx, map[string]any{"object": u.Object})
	missing := (*missingFieldError)(nil)
	switch {
	case errors.As(err, &missing):
		return Processing, fmt.Sprintf("readiness rule %q: %s", expr, text.OneLine(err.Error()))
	case err != nil:
		return Error, fmt.Sprintf("readiness rule %q: %s", expr, text.OneLine(err.Error()))
	case v.Value() == true:
		return Ready, ""
	case v.Value() != false:
		return Error, fmt.Sprintf("readiness rule %q returned a value of type %s, but must return a bool", expr, v.Type().TypeName())
	}
	return Processing, fmt.Sprintf("readiness rule %q is not met", expr)
}
