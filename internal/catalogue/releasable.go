// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// Of returns the templates of a module.
func Of(all []v1alpha1.ModuleTemplate, name string) []v1alpha1.ModuleTemplate {
	var out []v1alpha1.ModuleTemplate
	for i := range all {
		if module.NameOf(&all[i]) == name {
			out = append(out, all[i])
		}
	}
	return out
}

// Releasable returns a message if a version cannot be released in a channel: no ModuleTemplate provides it, or the ModuleTemplate is not
// resolved, or another one has the channel.
func (c *Catalogue) Releasable(release *v1alpha1.ModuleReleaseMeta, channel, version string) string {
	if message := c.contradiction(release, channel, version); message != "" {
		return message
	}
	t, message := c.version(version, release)
	if message != "" {
		return message
	}
	switch resolved := t.Status.GetCondition(v1alpha1.TypeResolved); {
	case resolved.Status == corev1.ConditionTrue && t.Status.ResolvedGeneration == t.Generation:
		return ""
	case resolved.Status == corev1.ConditionFalse:
		return fmt.Sprintf("ModuleTemplate %s is not resolved: %s", t.Name, resolved.Message)
	}
	return fmt.Sprintf("waiting for ModuleTemplate %s to be resolved", t.Name)
}

// IsResolved reports whether a template can be installed. If it cannot, the message contains the reason, or is empty if the
// controller of the template has not resolved it yet.
func IsResolved(t *v1alpha1.ModuleTemplate) (ok bool, message string) {
	c := t.Status.GetCondition(v1alpha1.TypeResolved)
	current := t.Status.ResolvedGeneration == t.Generation
	if c.Status == corev1.ConditionFalse && (!current || c.Reason != v1alpha1.ReasonResolveFailed) {
		return false, fmt.Sprintf("ModuleTemplate %s: %s", t.Name, c.Message)
	}
	return current, ""
}
