// SPDX-License-Identifier: Apache-2.0

package attacktest

import (
	"fmt"
	"strings"
)

// Files are the files of a chart by path, without its Chart.yaml.
type Files map[string]string

// Endless is a template that never ends and needs little memory.
const Endless = `{{ range until 10000 }}{{ range until 10000 }}{{ range until 10000 }}{{ end }}{{ end }}{{ end }}`

// Aliases returns a ConfigMap that expands to times 10 kB.
func Aliases(name string, times int) string {
	return configMap(name, "x") + "a: &a " + strings.Repeat("x", 10_000) + "\nb: [" + strings.TrimSuffix(strings.Repeat("*a,", times), ",") + "]\n"
}

// configMap returns a ConfigMap with a text in data.v.
func configMap(name, text string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata:\n  v: " + text + "\n"
}

// Charts returns the charts by name. Which limit a chart reaches first depends on the machine. FromYAML reaches no limit: its
// ConfigMap contains the error of the decoder.
func Charts() map[string]Files {
	of := func(template string) Files { return Files{"templates/a.yaml": template} }
	documents := Files{}
	for i := range 12 {
		documents[fmt.Sprintf("templates/d%d.yaml", i)] = Aliases(fmt.Sprint("d", i), 2000)
	}
	return map[string]Files{
		"Uniq":      of(`{{ $x := uniq (until 400000) }}`),
		"Without":   of(`{{ $l := until 400000 }}{{ range $l }}{{ $x := without $l . }}{{ end }}`),
		"Regex":     of(`{{ $x := regexFindAll "(a{0,30}){0,30}b" (repeat 4000000 "a") -1 }}`),
		"Range":     of(Endless),
		"Doubling":  of(`{{ $s := repeat 1000000 "x" }}{{ range until 40 }}{{ $s = printf "%s%s" $s $s }}{{ end }}`),
		"Memory":    of(`{{ $d := dict }}{{ range $i := until 100000 }}{{ $_ := set $d (toString $i) (repeat 1000000 "x") }}{{ end }}`),
		"Output":    of(`{{ range until 1000 }}{{ repeat 1000000 "x" }}{{ end }}`),
		"Included":  of(`{{ define "x" }}{{ range until 10000000 }}0123456789{{ end }}{{ end }}{{ $x := include "x" . }}`),
		"Recursion": of(`{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`),
		"Template":  of(`{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}`),
		"Calls":     of(`{{ define "x" }}{{ if . }}{{ template "x" (rest .) }}{{ template "x" (rest .) }}{{ end }}{{ end }}{{ template "x" (until 900) }}`),
		"Repeat":    of(`{{ repeat 1000000000000 "a" }}`),
		"Until":     of(`{{ range until 1000000000 }}{{ end }}`),
		"Indent":    of(`{{ len (nindent 10000000 (repeat 1000 "a\n")) }}`),
		"Random":    of(`{{ len (randBytes 1000000000) }}`),
		"Nesting":   of(strings.Repeat("{{ if 1 }}", 400_000)),
		"Schema": {
			"values.yaml": "x: [" + strings.Repeat("1,", 20_000) + "1]\n",
			"values.schema.json": `{"properties": {"x": {"uniqueItems": true, "items": {"$ref": "#/$defs/a"}}}, "$defs": {"a": {"allOf": [` +
				strings.TrimSuffix(strings.Repeat(`{"$ref": "#/$defs/b"},`, 300), ",") + `]}, "b": {"allOf": [` +
				strings.TrimSuffix(strings.Repeat(`{"type": "number"},`, 300), ",") + `]}}}`,
		},
		"Self":      of(`{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toYamlPretty $d }}`),
		"FromYAML":  of(`{{ $x := printf "a: &a %s\nb: [%s]" (repeat 100000 "x") (repeat 100000 "*a,") | fromYaml }}` + configMap("a", `{{ $x.Error | quote }}`)),
		"Documents": documents,
		"Objects":   of(`{{ range $i := until 2000 }}` + "---\napiVersion: v1\nkind: A\nmetadata: {name: a{{ $i }}}\n" + `{{ end }}`),
	}
}
