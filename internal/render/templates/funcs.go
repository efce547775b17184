// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/sprig/v3"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/render/input"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

const funcLookup = "lookup"

// impureFuncs lists the functions whose result depends on more than their arguments: the cluster, the clock, or
// chance. They are those of sprig v3.3.0 (functions.go) and Helm's lookup. The date functions use the clock if their
// argument is not a time. Not listed are env and expandenv, which Helm removes; getHostByName, which returns ""
// unless Helm is configured otherwise; keys and values, which use the order of the keys in this package.
//
//nolint:gochecknoglobals // A constant.
var impureFuncs = []string{
	funcLookup,
	"now", "ago", "date", "dateInZone", "date_in_zone", "htmlDate", "htmlDateInZone", "durationRound",
	"randAlphaNum", "randAlpha", "randAscii", "randNumeric", "randBytes", "randInt", "shuffle", "uuidv4",
	"bcrypt", "htpasswd", "encryptAES",
	"genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey",
	"genSignedCert", "genSignedCertWithKey",
}

// baseFuncs returns the functions that do not depend on the rendering: those of sprig, except those that Helm
// removes, and Helm's own. The map is never changed.
//
//nolint:gochecknoglobals // Made once, never changed.
var baseFuncs = sync.OnceValue(func() template.FuncMap {
	f := sprig.TxtFuncMap()
	delete(f, "env")
	delete(f, "expandenv")
	maps.Copy(f, template.FuncMap{
		"toYaml":        toYAML,
		"toYamlPretty":  toYAMLPretty,
		"fromYaml":      fromYAML,
		"fromYamlArray": fromYAMLArray,
		"toJson":        toJSON,
		"fromJson":      fromJSON,
		"fromJsonArray": fromJSONArray,
		"toToml":        toTOML,
		"fromToml":      fromTOML,
		"getHostByName": func(string) string { return "" },
		"keys":          sortedKeys,
		"values":        sortedValues,
	})
	return f
})

// parseFuncs returns the functions for the parser; those of a rendering are bound when it runs.
//
//nolint:gochecknoglobals // Made once, never changed.
var parseFuncs = sync.OnceValue(func() template.FuncMap {
	f := maps.Clone(baseFuncs())
	for _, name := range []string{"include", "tpl", "required", "fail", funcLookup} {
		f[name] = func(...any) string { return "" }
	}
	return f
})

// Helm's conversions do not fail a template: the result is then empty or contains the text of the error.

func toYAML(v any) string {
	b, err := yaml.Marshal(v)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(b), "\n")
}

func toYAMLPretty(v any) string {
	var b bytes.Buffer
	e := yamlv3.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func fromYAML(s string) map[string]any {
	m := map[string]any{}
	if err := unmarshal(s, &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}

// unmarshal parses YAML that a template was given or has created, within the size limit of a file of the chart.
func unmarshal(s string, into any) error {
	return yamlsize.Limits{Bytes: input.MaxFile}.Unmarshal([]byte(s), into)
}

func fromYAMLArray(s string) []any {
	a := []any{}
	if err := unmarshal(s, &a); err != nil {
		a = []any{err.Error()}
	}
	return a
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

func fromJSON(s string) map[string]any {
	m := map[string]any{}
	if err := json.Unmarshal([]byte(s), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}

func fromJSONArray(s string) []any {
	a := []any{}
	if err := json.Unmarshal([]byte(s), &a); err != nil {
		a = []any{err.Error()}
	}
	return a
}

func toTOML(v any) string {
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(v); err != nil {
		return err.Error()
	}
	return b.String()
}

func fromTOML(s string) map[string]any {
	m := map[string]any{}
	if err := toml.Unmarshal([]byte(s), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}

// sortedKeys is sprig's keys, but sorted, because sprig uses the random order of Go's maps.
func sortedKeys(dicts ...map[string]any) []string {
	out := []string{}
	for _, d := range dicts {
		out = append(out, slices.Sorted(maps.Keys(d))...)
	}
	return out
}

// sortedValues is sprig's values, in the order of the keys.
func sortedValues(dict map[string]any) []any {
	out := []any{}
	for _, k := range slices.Sorted(maps.Keys(dict)) {
		out = append(out, dict[k])
	}
	return out
}
