// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"strings"
	"testing"
	"text/template"
)

// TestFromYAMLBounded checks that YAML that a template decodes has the same limit as a file of the chart.
func TestFromYAMLBounded(t *testing.T) {
	bomb := "a: &a " + strings.Repeat("x", 20<<10) + "\nb: [" + strings.Repeat("*a,", 1000) + "]\n"
	list := "- &a " + strings.Repeat("x", 20<<10) + "\n- [" + strings.Repeat("*a,", 1000) + "]\n"
	cases := map[string]struct {
		reason string
		got    any
		want   string
	}{
		"Map":   {reason: "The error is where Helm puts one.", got: fromYAML(bomb)["Error"], want: "YAML is larger than 5242880 bytes when its aliases are expanded"},
		"Array": {reason: "For a list, the error is where Helm puts one.", got: fromYAMLArray(list)[0], want: "YAML is larger than 5242880 bytes when its aliases are expanded"},
		"Small": {reason: "An alias that stays small is YAML like any other.", got: fromYAML("a: &a b\nc: *a")["c"], want: "b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("%s\nwant %q, got %.100v", tc.reason, tc.want, tc.got)
			}
		})
	}
}

// TestFunctionNames detects if sprig renames one of the listed functions.
func TestFunctionNames(t *testing.T) {
	all := parseFuncs()
	for _, name := range impureFuncs {
		if _, ok := all[name]; !ok {
			t.Errorf("there is no function %q", name)
		}
	}
	if _, ok := all["env"]; ok {
		t.Error("env must not be there")
	}
	if _, err := template.New("").Funcs(all).Parse(`{{ include "a" . | tpl "" | required "" }}`); err != nil {
		t.Error(err)
	}
}
