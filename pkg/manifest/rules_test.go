// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-kyma/pkg/cluster"
)

func TestEval(t *testing.T) {
	u := manifestOf(t, `{apiVersion: g/v1, kind: K, metadata: {name: a}, spec: {size: 3, list: [1, 2, 3]}, status: {state: Ready, size: 3}}`)
	cases := map[string]struct {
		reason string
		expr   string
		state  State
		text   string // The message must have it.
	}{
		"True":    {reason: "A rule that is met.", expr: `object.status.state == "Ready" && object.status.size >= object.spec.size`, state: Ready},
		"False":   {reason: "A rule that is not met yet.", expr: `object.status.state == "Done"`, state: Processing, text: "is not met"},
		"Missing": {reason: "A field that is missing may come.", expr: `object.status.phase == "Up"`, state: Processing, text: "no such key: phase"},
		"Has":     {reason: "Macros are known.", expr: `has(object.status.phase) || object.spec.list.exists(x, x == 2)`, state: Ready},
		"Type":    {reason: "Types that do not fit are an error of the rule.", expr: `object.status.state > 3`, state: Error, text: "no such overload"},
		"Dyn":     {reason: "A value that is no bool is an error of the rule.", expr: `object.status.state`, state: Error, text: "must give a bool"},
		"NoBool":  {reason: "So is an expression that can never be one.", expr: `"Ready"`, state: Error, text: "of type string and must be of type bool"},
		"Syntax":  {reason: "What does not compile is named in one line.", expr: `object.status ==`, state: Error, text: "Syntax error"},
		"Unknown": {reason: "There is no variable but object.", expr: `self.status`, state: Error, text: "undeclared reference"},
		"Cost":    {reason: "A rule may not run for long.", expr: `[1,2,3,4,5,6,7,8].all(a, [1,2,3,4,5,6,7,8].all(b, [1,2,3,4,5,6,7,8].all(c, [1,2,3,4,5,6,7,8].all(d, [1,2,3,4,5,6,7,8].all(e, a+b+c+d+e > 0)))))`, state: Error, text: "cost limit"},
	}
	r := newRules()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 { // The second time it is compiled already.
				state, text := r.eval(t.Context(), tc.expr, u)
				if state != tc.state || !strings.Contains(text, tc.text) || strings.Contains(text, "\n") || (state == Ready) != (text == "") {
					t.Errorf("\n%s\ngot %s %q", tc.reason, state, text)
				}
			}
		})
	}
}

func TestStateOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		status string
		sum    cluster.ObjectState
		state  State
		text   string
	}{
		"None":       {reason: "Its controller has not seen it.", status: "{}", state: Processing, text: "has no status yet"},
		"Ready":      {reason: "As modules report it.", status: "{state: Ready}", state: Ready},
		"Warning":    {reason: "The first condition that is not True says why.", status: "{state: Warning, conditions: [{status: 'True', message: a}, {status: 'False'}, {status: 'False', message: \"b\\nc\"}]}", state: Warning, text: "status.state is Warning: b c"},
		"Error":      {reason: "Without conditions there is the state.", status: "{state: Error}", state: Error, text: "status.state is Error"},
		"Deleting":   {reason: "Its controller takes it down.", status: "{state: Deleting}", state: Deleting, text: "status.state is Deleting"},
		"Unknown":    {reason: "A state that is not Kyma's is not ready.", status: "{state: Booting}", state: Processing, text: `status.state is "Booting"`},
		"Current":    {reason: "Without a state kstatus decides.", status: "{phase: x}", sum: cluster.ObjectState{Status: cluster.Current}, state: Ready},
		"Failed":     {reason: "Without a state kstatus decides.", status: "{state: 7}", sum: cluster.ObjectState{Status: cluster.Failed, Message: "m"}, state: Error, text: "m"},
		"InProgress": {reason: "Without a state kstatus decides.", status: "{phase: x}", sum: cluster.ObjectState{Status: cluster.InProgress}, state: Processing, text: "is not ready"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			state, text := stateOf(manifestOf(t, "{kind: K, status: "+tc.status+"}"), tc.sum)
			if diff := cmp.Diff([]string{string(tc.state), tc.text}, []string{string(state), text}); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// The readiness of the custom resource, and of kinds that rules are for, is judged once for each version of an object.
func TestReadiness(t *testing.T) {
	b := newBench(t)
	s := setOf(install("operator", "crds/"+tmplCRD, tmplDeploy, fmt.Sprintf(tmplWidget, "other")))
	s.Resource = manifestOf(t, fmt.Sprintf(tmplWidget, "main"))
	b.settle(s)
	expect := func(state State, message string, requests ...string) {
		t.Helper()
		b.s.took()
		o := b.observe(s)
		if o.State != state || o.Message != message || !o.UpToDate {
			t.Errorf("observation: want %s %q, got %+v", state, message, o)
		}
		if diff := cmp.Diff(requests, b.s.took()); diff != "" {
			t.Errorf("requests: -want, +got:\n%s", diff)
		}
	}
	expect(Processing, "resource: Widget default/main: has no status yet")
	b.s.status(widget, map[string]any{"state": "Error", "conditions": []any{map[string]any{"status": "False", "message": "no disk"}}})
	expect(Error, "resource: Widget default/main: status.state is Error: no disk", "get Widget default/main")
	b.s.status(widget, map[string]any{"state": "Ready"})
	expect(Ready, "", "get Widget default/main")
	expect(Ready, "")
	s.Readiness = []Rule{{CEL: `object.status.size == 2`}, {CEL: `has(object.status)`, For: schema.GroupKind{Group: "example.org", Kind: "Widget"}}}
	expect(Processing, `operator: Widget apps/other: readiness rule "has(object.status)" is not met`, "get Widget apps/other", "get Widget default/main")
	b.s.status(key("Widget", "apps", "other"), map[string]any{"x": "y"})
	b.s.status(widget, map[string]any{"size": int64(2)})
	expect(Ready, "", "get Widget apps/other", "get Widget default/main")
}
