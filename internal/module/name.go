// SPDX-License-Identifier: Apache-2.0

package module

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/crossplane-contrib/provider-kyma/apis/v1alpha1"
)

// Limits of names in the API.
const (
	maxModuleName  = 63
	maxInstallName = 53
	// hashLength is the number of hexadecimal digits of the hash that replaces the end of a name.
	hashLength = 8
)

var (
	isModuleName  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	isInstallName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
)

// NameOf returns the name that a Kyma uses for the module: spec.moduleName, or the label
// operator.kyma-project.io/module-name, or the last element of the name of the component, from the descriptor in the spec
// or from spec.component. If none of these is set, it returns the name from the last resolution, or "".
func NameOf(t *v1alpha1.ModuleTemplate) string {
	if t.Spec.ModuleName != "" {
		return t.Spec.ModuleName
	}
	if label := t.Labels[v1alpha1.LabelModuleName]; label != "" {
		return label
	}
	if component := ComponentOf(t); component != "" {
		return path.Base(component)
	}
	return t.Status.ModuleName
}

// ComponentOf returns the name of the component of a template. It decodes only that part of the descriptor, as it is
// called often.
func ComponentOf(t *v1alpha1.ModuleTemplate) string {
	if c := t.Spec.Component; c != nil {
		return c.Name
	}
	if t.Spec.Descriptor == nil {
		return ""
	}
	var d struct {
		Component struct {
			Name string `json:"name"`
		} `json:"component"`
	}
	if kjson.UnmarshalCaseSensitivePreserveInts(t.Spec.Descriptor.Raw, &d) != nil {
		return ""
	}
	return d.Component.Name
}

// checkName returns an error if the name of a module is not valid.
func checkName(t *v1alpha1.ModuleTemplate, name string) error {
	if len(name) <= maxModuleName && isModuleName.MatchString(name) {
		return nil
	}
	from := "spec.moduleName"
	switch {
	case t.Spec.ModuleName != "":
	case t.Labels[v1alpha1.LabelModuleName] != "":
		from = "label " + v1alpha1.LabelModuleName
	default:
		from = "the name of the component"
	}
	return invalidf("%q, from %s, is not a valid module name: set spec.moduleName to at most %d lowercase letters, digits, '-' or '.'",
		name, from, maxModuleName)
}

// installName returns the name of the install of a resource, prefixed by the reference to its component if there is
// one. It replaces characters that an install name cannot contain by dashes, and the end of a name that is too long by
// a hash of the whole name.
func installName(reference, resource string) string {
	name := resource
	if reference != "" {
		name = reference + "-" + resource
	}
	clean := strings.Trim(strings.NewReplacer("_", "-", "+", "-", ".", "-", "/", "-").Replace(strings.ToLower(name)), "-")
	if len(clean) <= maxInstallName {
		return clean
	}
	sum := sha256.Sum256([]byte(name))
	return clean[:maxInstallName-hashLength-1] + "-" + hex.EncodeToString(sum[:])[:hashLength]
}
