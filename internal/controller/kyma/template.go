// SPDX-License-Identifier: Apache-2.0

package kyma

import (
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-kyma/internal/module"
)

// allowsDowngrade reports whether a module may get a lower version: the Kyma names the module and the version, or the
// template names the version and stays in its channel.
func allowsDowngrade(k *v1alpha1.Kyma, t *v1alpha1.ModuleTemplate, live *v1alpha1.Manifest, name string) bool {
	want := name + "@" + t.Status.Version
	named := slices.ContainsFunc(strings.Split(k.Annotations[v1alpha1.AnnotationAllowDowngrade], ","), func(s string) bool {
		return strings.TrimSpace(s) == want
	})
	return named || t.Spec.Channel != "" && live.Labels[v1alpha1.LabelChannel] == t.Spec.Channel &&
		strings.TrimSpace(t.Annotations[v1alpha1.AnnotationAllowDowngrade]) == t.Status.Version
}

// isDowngrade reports whether a template has a lower version than the installed version of a Manifest. A version that cannot
// be compared is not lower.
func isDowngrade(t *v1alpha1.ModuleTemplate, live *v1alpha1.Manifest) bool {
	c, err := module.CompareVersions(t.Status.Version, installedVersion(live))
	return err == nil && c < 0
}
