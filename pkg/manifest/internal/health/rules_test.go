// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"
	"testing"
)

func TestEval(t *testing.T) {
	u := fromYAML(t, `{apiVersion: g/v1, kind: K, metadata: {name: a}, spec: {size: 3, list: [1, 2, 3], items: [{name: x}]}, status: {state: Ready, size: 3}}`)
	cases := map[string]struct {
		reason string
		expr   string
		state  State
		text   string // The message must contain it.
	}{
		"True":    {reason: "The rule is met.", expr: `object.status.state == "Ready" && object.status.size >= object.spec.size`, state: Ready},
		"False":   {reason: "The rule is not met yet.", expr: `object.status.state == "Done"`, state: Processing, text: "is not met"},
		"Missing": {reason: "A missing field may be added later.", expr: `object.status.phase == "Up"`, state: Processing, text: "no such key: phase"},
		"Index":   {reason: "A field selected by its name in brackets may be added later.", expr: `object.status["phase"] == "Up"`, state: Processing, text: "no such key: phase"},
		"Chosen":  {reason: "A field whose name is in the object may be added later.", expr: `object.status[object.status.state] == "Up"`, state: Processing, text: "no such key: Ready"},
		"Chooser": {reason: "The field that contains the name may be added later.", expr: `object.status[object.status.phase] == "Up"`, state: Processing, text: "no such key: phase"},
		"Below":   {reason: "A field of a value without fields may be added later.", expr: `object.status.state.deep == "Up"`, state: Processing, text: "no such key: deep"},
		"Item":    {reason: "A field of an item may be added later.", expr: `object.spec.items.all(i, i.ready)`, state: Processing, text: "no such key: ready"},
		"Literal": {reason: "A map in the rule is treated like a map in the object.", expr: `{"a": true}.b`, state: Processing, text: "no such key: b"},
		"HasDeep": {reason: "A test for a field needs the fields above it.", expr: `has(object.status.phase.deep)`, state: Processing, text: "no such key: phase"},
		"Or":      {reason: "If the other side is true, a missing field does not matter.", expr: `object.status.phase == "Up" || object.status.state == "Ready"`, state: Ready},
		"Bounds":  {reason: "An index is not a field.", expr: `object.spec.list[7] == 1`, state: Error, text: "index out of bounds: 7"},
		"Convert": {reason: "The text of an error does not make a field missing.", expr: `int("no such key: x") == 1`, state: Error, text: "no such key"},
		"Has":     {reason: "Macros are available.", expr: `has(object.status.phase) || object.spec.list.exists(x, x == 2)`, state: Ready},
		"Type":    {reason: "Types that do not match are an error of the rule.", expr: `object.status.state > 3`, state: Error, text: "no such overload"},
		"Dyn":     {reason: "A value that is not a bool is an error of the rule.", expr: `object.status.state`, state: Error, text: "must return a bool"},
		"NoBool":  {reason: "An expression that can never be a bool is an error of the rule.", expr: `"Ready"`, state: Error, text: "has type string, but must have type bool"},
		"Syntax":  {reason: "A syntax error is reported in one line.", expr: `object.status ==`, state: Error, text: "Syntax error"},
		"Unknown": {reason: "The only variable is object.", expr: `self.status`, state: Error, text: "undeclared reference"},
		"Cost":    {reason: "The cost of a rule is limited.", expr: `[1,2,3,4,5,6,7,8].all(a, [1,2,3,4,5,6,7,8].all(b, [1,2,3,4,5,6,7,8].all(c, [1,2,3,4,5,6,7,8].all(d, [1,2,3,4,5,6,7,8].all(e, a+b+c+d+e > 0)))))`, state: Error, text: "cost limit"},
	}
	r := NewRules()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 { // The second time, it is compiled already.
				state, text := r.Evaluate(t.Context(), tc.expr, u)
				if state != tc.state || !strings.Contains(text, tc.text) || strings.Contains(text, "\n") || (state == Ready) != (text == "") {
					t.Errorf("\n%s\ngot %s %q", tc.reason, state, text)
				}
			}
		})
	}
}
