// SPDX-License-Identifier: Apache-2.0

package kymaset

import (
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// MaxInserted is the maximum size of all values of parameters in one Kyma, in bytes.
const MaxInserted = 64 << 10

// An expander replaces the parameters of one cluster in strings.
type expander struct {
	cluster Cluster
	// inserted is the size of the values that were inserted.
	inserted int
}

// expand replaces the parameters in a string. field is the path of the string in the template, for errors.
func (e *expander) expand(field, s string) (string, error) {
	out := strings.Builder{}
	for {
		i := strings.Index(s, "$(")
		if i < 0 {
			break
		}
		if i > 0 && s[i-1] == '$' { // $$( is a literal $(.
			out.WriteString(s[:i-1])
			out.WriteString("$(")
			s = s[i+2:]
			continue
		}
		out.WriteString(s[:i])
		name, rest, ok := strings.Cut(s[i+2:], ")")
		if !ok {
			return "", errors.Errorf("template.%s: a parameter has no closing parenthesis; to write a literal $(, write $$(", field)
		}
		v, err := e.value(field, name)
		if err != nil {
			return "", err
		}
		if e.inserted += len(v); e.inserted > MaxInserted {
			return "", errors.Errorf("template: the parameters of cluster %s insert more than %d bytes", e.cluster, MaxInserted)
		}
		out.WriteString(v)
		s = rest
	}
	out.WriteString(s)
	return out.String(), nil
}

// value returns the value of a parameter.
func (e *expander) value(field, name string) (string, error) {
	switch name {
	case "cluster.name":
		return e.cluster.Name, nil
	case "cluster.namespace":
		return e.cluster.Namespace, nil
	}
	for _, m := range []struct {
		prefix, noun string
		values       map[string]string
	}{
		{"cluster.labels['", "label", e.cluster.Labels},
		{"cluster.annotations['", "annotation", e.cluster.Annotations},
	} {
		key, ok := strings.CutPrefix(name, m.prefix)
		if !ok {
			continue
		}
		if key, ok = strings.CutSuffix(key, "']"); !ok || key == "" {
			break
		}
		v, ok := m.values[key]
		if !ok {
			return "", errors.Errorf("cluster %s has no %s %.100q, which template.%s requires: set it, or change the template", e.cluster, m.noun, key, field)
		}
		return v, nil
	}
	return "", errors.Errorf("template.%s: unknown parameter %.100q: use cluster.name, cluster.namespace, cluster.labels['KEY'] or "+
		"cluster.annotations['KEY']; to write a literal $(, write $$(", field, name)
}
