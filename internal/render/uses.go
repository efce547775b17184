// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
)

// usesAPIVersions reports whether the text of a template names a field APIVersions. It may be wrong about a comment.
func usesAPIVersions(text string) bool {
	return mentions(text, "APIVersions", func(string) bool { return true })
}

// usesKubeVersion reports whether the text of a template names a field KubeVersion, or all capabilities. It may be
// wrong about a comment.
func usesKubeVersion(text string) bool {
	return mentions(text, "KubeVersion", func(string) bool { return true }) ||
		mentions(text, "Capabilities", func(rest string) bool { return !strings.HasPrefix(rest, ".APIVersions") })
}

// mentions reports whether the text of a template names a field, as in .Field, or "Field" as an argument of a function. The
// function counts takes what follows the name. A parser would be exact, but follows hostile templates by recursion.
func mentions(text, field string, counts func(rest string) bool) bool {
	if !strings.Contains(text, "{{") {
		return false
	}
	for {
		before, rest, found := strings.Cut(text, field)
		switch {
		case !found:
			return false
		case before != "" && strings.ContainsAny(before[len(before)-1:], ".\"`") && !beginsWord(rest) && counts(rest):
			return true
		}
		text = rest
	}
}

func beginsWord(s string) bool {
	return s != "" && (s[0] == '_' || '0' <= s[0] && s[0] <= '9' || 'a' <= s[0]|0x20 && s[0]|0x20 <= 'z')
}

// chartUses reports whether uses is true for a template, or for a text in the default values, of a chart or of one of
// its dependencies.
func chartUses(c *chart.Chart, uses func(text string) bool) bool {
	return slices.ContainsFunc(c.Templates, func(f *chart.File) bool { return uses(string(f.Data)) }) || valuesUse(c.Values, uses) ||
		slices.ContainsFunc(c.Dependencies(), func(d *chart.Chart) bool { return chartUses(d, uses) })
}

// valuesUse reports whether uses is true for a text in v.
func valuesUse(v any, uses func(text string) bool) bool {
	switch t := v.(type) {
	case string:
		return uses(t)
	case []any:
		return slices.ContainsFunc(t, func(e any) bool { return valuesUse(e, uses) })
	case map[string]any:
		for _, e := range t {
			if valuesUse(e, uses) {
				return true
			}
		}
	}
	return false
}
