// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/go-cmp/cmp"
)

// A mark changes neither the result of a rule nor its cost, which is limited.
func TestMarkMissingFields(t *testing.T) {
	type result struct {
		Value any
		Err   string
		Cost  uint64
	}
	object := map[string]any{"status": map[string]any{"state": "Ready", "list": []any{int64(1), map[string]any{"a": "b"}}}}
	env, err := cel.NewEnv(cel.Variable("object", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	for _, expr := range []string{
		`object.status.state == "Ready"`,
		`object.status.phase == "Up"`,
		`object.status.phase == "Up" || object.status.state == "Ready"`,
		`has(object.status.phase) || has(object.status.phase.deep)`,
		`object.status["phase"] == "Up"`,
		`object.status[3] == 1`,
		`object.status.list[7] == 1`,
		`object.status.list["a"] == 1`,
		`object.status.list[1].c == "x"`,
		`object.status.list.exists(x, x.foo == 2)`,
		`object.status.list.map(x, x.foo)[0] == 1`,
		`(object.status.state == "Ready" ? object.status : object).foo == 1`,
		`{"a": 1}.b == 1`,
		`object.status.state[0] == "R"`,
	} {
		t.Run(expr, func(t *testing.T) {
			ast, issues := env.Compile(expr)
			if issues.Err() != nil {
				t.Fatal(issues.Err())
			}
			run := func(o ...cel.ProgramOption) result {
				p, err := env.Program(ast, append(o, cel.CostLimit(ruleCost))...)
				if err != nil {
					t.Fatal(err)
				}
				v, d, err := p.ContextEval(t.Context(), map[string]any{"object": object})
				out := result{Err: fmt.Sprint(err), Cost: *d.ActualCost()}
				if err == nil {
					out.Value = v.Value()
				}
				return out
			}
			if diff := cmp.Diff(run(), run(markMissingFields())); diff != "" {
				t.Errorf("-without, +with:\n%s", diff)
			}
		})
	}
}
