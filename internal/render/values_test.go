// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOverrides(t *testing.T) {
	values := func() map[string]any {
		return map[string]any{"both": "values", "map": map[string]any{"values": "x"}, "gone": nil}
	}
	overrides := func() map[string]any {
		return map[string]any{
			"both": "overrides", "config": "overrides", "gone": "overrides", "big": int64(1_000_000),
			"map": map[string]any{"overrides": "x"}, "list": []any{map[string]any{"a": int64(1)}},
		}
	}
	c := mustLoad(t, tree{
		"Chart.yaml":       chartYAML("app"),
		"values.yaml":      "both: chart\nconfig: chart\nchart: chart\ngone: chart\nbig: 1\nmap: {chart: x, values: y, overrides: y}\n",
		"templates/a.yaml": configMap("a", "{{ .Values | toJson | quote }}"),
	})
	in, over := values(), overrides()
	r := mustRender(t, c, Options{Values: in, Overrides: over})
	data, _ := r.Objects[0].Object["data"].(map[string]any)
	got := map[string]any{}
	if err := json.Unmarshal(fmt.Append(nil, data["v"]), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"both": "values", "config": "overrides", "chart": "chart", "big": 1e6,
		"map": map[string]any{"chart": "x", "values": "x", "overrides": "x"}, "list": []any{map[string]any{"a": 1.0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("chart < overrides < values: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]any{values(), overrides()}, []any{in, over}); diff != "" {
		t.Errorf("what is given must not be changed: -want, +got:\n%s", diff)
	}
	big := mustLoad(t, tree{"Chart.yaml": chartYAML("app"), "templates/a.yaml": configMap("a", "\"{{ .Values.big }}\"")})
	r = mustRender(t, big, Options{Overrides: over})
	if got := r.Objects[0].Object["data"].(map[string]any)["v"]; got != "1000000" {
		t.Errorf("numbers must print as with helm --set, got %v", got)
	}
}
