// SPDX-License-Identifier: Apache-2.0

package module

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// confinement returns the restrictions for the Manifest of a module, or nil if there are none.
func confinement(t *v1alpha1.ModuleTemplate) *v1alpha1.ManifestAllowed {
	a := t.Spec.Allowed
	if a == nil || a.Namespaces == nil && a.Kinds == nil && a.ClusterAdmin == nil {
		return nil
	}
	return &v1alpha1.ManifestAllowed{Confinement: *a.Confinement.DeepCopy(), ModuleTemplate: t.Name}
}

// checkAllowed returns an error if a Kyma sets a field of a module that the ModuleTemplate does not allow. In the control
// plane, a module is installed with permissions that the users of the Kyma don't have.
func checkAllowed(t *v1alpha1.ModuleTemplate, m *v1alpha1.Module) error {
	central := t.Spec.Target == v1alpha1.ModuleTargetControlPlane
	c := settings{template: t.Name, central: central, restricted: central}
	if t.Spec.Allowed != nil && t.Spec.Allowed.Values != nil {
		c.restricted = true
		for _, p := range t.Spec.Allowed.Values {
			c.allowed = append(c.allowed, splitPath(p))
		}
	}
	if field := destructive(m); central && field != "" {
		return c.refuse(field)
	}
	if !c.restricted {
		return nil
	}
	if err := c.check("", m.Values, m.ValuesFrom); err != nil {
		return err
	}
	for i := range m.Installs {
		in := &m.Installs[i]
		if err := c.check("installs["+strconv.Quote(in.Name)+"].", in.Values, in.ValuesFrom); err != nil {
			return err
		}
	}
	return nil
}

// destructive returns a policy of a module that can change or delete objects of others, or "".
func destructive(m *v1alpha1.Module) string {
	switch {
	case m.Adoption == v1alpha1.AdoptionPolicyAdopt:
		return "adoption: Adopt"
	case m.Rollback != nil:
		return "rollback"
	case m.ImmutableFields == v1alpha1.ImmutableFieldsPolicyRecreate:
		return "immutableFields: Recreate"
	}
	return ""
}

// settings are the settings of a module that a ModuleTemplate allows.
type settings struct {
	template            string
	central, restricted bool
	allowed             [][]string
}

// refuse returns an error about a field of the module in the Kyma.
func (c *settings) refuse(field string) error {
	if c.central {
		return errors.Errorf("%s is not allowed by spec.allowed of ModuleTemplate %s, which has target control-plane", field, c.template)
	}
	return errors.Errorf("%s is not allowed by spec.allowed.values of ModuleTemplate %s", field, c.template)
}

// check checks values and references to values. prefix is the path of their parent.
func (c *settings) check(prefix string, values *runtime.RawExtension, from []v1alpha1.ValuesReference) error {
	for i := range from {
		// Without a path, the Secret or ConfigMap can contain any values.
		if c.central || from[i].TargetPath == "" || !c.allows(splitPath(from[i].TargetPath)) {
			return c.refuse(prefix + "valuesFrom")
		}
	}
	if values == nil {
		return nil
	}
	var v map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(values.Raw, &v); err != nil {
		return errors.Errorf("%svalues must be an object", prefix)
	}
	if path := c.firstRefused(nil, v); path != nil {
		return c.refuse(prefix + "values." + joinPath(path))
	}
	return nil
}

// firstRefused returns the path of the first value in v that is not allowed, or nil. A list counts as one value, because it
// replaces the list of the chart. An empty map counts as one value too.
func (c *settings) firstRefused(at []string, v any) []string {
	if c.allows(at) {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 && len(at) > 0 {
		return at
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if path := c.firstRefused(append(slices.Clone(at), k), m[k]); path != nil {
			return path
		}
	}
	return nil
}

// allows reports whether at or one of its parents is an allowed path.
func (c *settings) allows(at []string) bool {
	return slices.ContainsFunc(c.allowed, func(p []string) bool {
		if len(p) > len(at) {
			return false
		}
		for i := range p {
			if p[i] != "*" && p[i] != at[i] {
				return false
			}
		}
		return true
	})
}

// splitPath splits a path at its dots, except those after a backslash.
func splitPath(p string) []string {
	var out []string
	for part := range strings.SplitSeq(p, ".") {
		if n := len(out); n > 0 && strings.HasSuffix(out[n-1], `\`) {
			out[n-1] = strings.TrimSuffix(out[n-1], `\`) + "." + part
			continue
		}
		out = append(out, part)
	}
	return out
}

// joinPath is the inverse of splitPath.
func joinPath(p []string) string {
	escaped := make([]string, 0, len(p))
	for _, name := range p {
		escaped = append(escaped, strings.ReplaceAll(name, ".", `\.`))
	}
	return strings.Join(escaped, ".")
}
