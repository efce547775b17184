// SPDX-License-Identifier: Apache-2.0

package workflows

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// asWorkflow returns a workflow with the inputs and the steps of a composite action, because actionlint checks only the inputs of actions.
func asWorkflow(action string) (string, error) {
	var a struct {
		Inputs map[string]any `json:"inputs"`
		Runs   struct {
			Steps []any `json:"steps"`
		} `json:"runs"`
	}
	if err := yaml.Unmarshal([]byte(action), &a); err != nil {
		return "", err
	}
	inputs := map[string]any{}
	for name := range a.Inputs {
		inputs[name] = map[string]any{"type": "string"}
	}
	out, err := yaml.Marshal(map[string]any{
		"on": map[string]any{"workflow_call": map[string]any{"inputs": inputs}},
		"jobs": map[string]any{"action": map[string]any{
			"runs-on": "ubuntu-24.04", "steps": a.Runs.Steps,
		}},
	})
	return string(out), err
}

// TestActions checks the steps of composite actions with actionlint.
func TestActions(t *testing.T) {
	_, all := ours(t)
	for file, d := range all {
		if d.Jobs != nil {
			continue
		}
		for _, why := range lintAction(t, d.text) {
			t.Errorf("%s: %s", file, why)
		}
	}
}

func lintAction(t *testing.T, text string) []string {
	t.Helper()
	w, err := asWorkflow(text)
	if err != nil {
		t.Fatal(err)
	}
	out, err := lint("<stdin>", w, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLintAction checks that mistakes in an action are found.
func TestLintAction(t *testing.T) {
	const action = "inputs:\n  name:\n    required: true\nruns:\n  using: composite\n  steps:\n  - run: echo ${{ inputs.name }}\n    shell: bash\n"
	if got := lintAction(t, action); len(got) > 0 {
		t.Errorf("want no mistakes, got %q", got)
	}
	got := strings.Join(lintAction(t, strings.Replace(action, "inputs.name", "inputs.title", 1)), "\n")
	if want := `property "title" is not defined`; !strings.Contains(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
}
