// SPDX-License-Identifier: Apache-2.0

package gitopstest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestRulesIn checks that the rules are found where Argo CD reads them.
func TestRulesIn(t *testing.T) {
	page := func(text string) string { return "# Page\n\n```yaml\n" + text + "```\n" }
	cases := map[string]struct {
		reason string
		page   string
		want   map[string]string
		err    string
	}{
		"Rule": {
			reason: "The rule is a string in a string.",
			page: page("data:\n  resource.customizations: |\n" +
				"    \"kyma.m.crossplane.io/*\":\n      health.lua: |\n        return {}\n" +
				"    \"platform.kyma.crossplane.io/*\":\n      health.lua: |\n        return {1}\n"),
			want: map[string]string{"kyma.m.crossplane.io": "return {}\n", PlatformGroup: "return {1}\n"},
		},
		"NoBlock": {reason: "The page must have a rule.", page: page("data: {}\n"), err: "the page contains no ConfigMap with the key resource.customizations"},
		"OneGroup": {
			reason: "Each group must have a rule.", page: page("data:\n  resource.customizations: |\n    \"kyma.m.crossplane.io/*\":\n      health.lua: return {}\n"),
			err: "has no health.lua for platform.kyma.crossplane.io/*",
		},
		"OtherGroup": {reason: "A rule for another group has no effect.", page: page("data:\n  resource.customizations: |\n    \"kyma.crossplane.io/*\":\n      health.lua: return {}\n"), err: "has no health.lua for kyma.m.crossplane.io/*"},
		"NotNested":  {reason: "A rule that is not a string in the ConfigMap has no effect.", page: page("data:\n  resource.customizations:\n    health.lua: a\n"), err: "cannot decode the ConfigMap"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := rulesIn([]byte(tc.page))
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("\n%s\nrulesIn(...): want error %q, got %v", tc.reason, tc.err, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nrulesIn(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRunRule checks that a rule sees an object as in Argo CD, and that its mistakes are errors.
func TestRunRule(t *testing.T) {
	type want struct {
		Status, Message, Err string
	}
	cases := map[string]struct {
		reason string
		rule   string
		want   want
	}{
		"Fields": {
			reason: "The rule reads fields and items of lists.",
			rule:   `local c = obj.status.conditions[2]; return {status = "Healthy", message = c.type .. obj.metadata.generation}`,
			want:   want{Status: "Healthy", Message: "Ready2"},
		},
		"Equal":   {reason: "Numbers can be compared.", rule: `if obj.metadata.generation == obj.status.observedGeneration then return {status = "Suspended"} end`, want: want{Status: "Suspended"}},
		"Missing": {reason: "A field that is missing is nil.", rule: `if obj.spec == nil then return {status = "Progressing"} end`, want: want{Status: "Progressing"}},
		"Syntax":  {reason: "A rule must be valid.", rule: "return {", want: want{Err: "cannot run the rule"}},
		"Fails":   {reason: "A rule must not fail.", rule: "return {status = obj.spec.x}", want: want{Err: "cannot run the rule"}},
		"Nothing": {reason: "A rule must return something.", rule: "local x = 1", want: want{Err: "the rule returned nil, not a table"}},
		"Unknown": {reason: "Argo CD has a list of statuses.", rule: `return {status = "Stalled"}`, want: want{Err: `the rule returned the status "Stalled"`}},
		"Library": {reason: "A rule cannot use the system.", rule: `return {status = os.getenv("HOME")}`, want: want{Err: "cannot run the rule"}},
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"generation": int64(2)},
		"status": map[string]any{
			"observedGeneration": int64(2),
			"conditions":         []any{map[string]any{"type": "Synced", "status": "False"}, map[string]any{"type": "Ready", "status": "True"}},
		},
	}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if name == "Endless" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
			}
			status, message, err := runRule(ctx, tc.rule, u)
			got := want{Status: status, Message: message}
			if err != nil && tc.want.Err != "" && strings.Contains(err.Error(), tc.want.Err) {
				got.Err = tc.want.Err
			} else if err != nil {
				got.Err = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nrunRule(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEndlessRule checks that a rule ends with its context.
func TestEndlessRule(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := runRule(ctx, "while true do end", &unstructured.Unstructured{}); err == nil || !strings.Contains(err.Error(), "context deadline exceeded") {
		t.Errorf("runRule(...): want the error of the context, got %v", err)
	}
}
