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

// Names as the API allows them.
const (
	maxModuleName  = 63
	maxInstallName = 53
	// hashLength is how much of a hash stands for what was cut off a name, in hexadecimal digits.
	hashLength = 8
)

var (
	isModuleName  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)
	isInstallName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
)

// NameOf returns the name that a Kyma uses for the module: spec.moduleName, or the label
// operator.kyma-project.io/module-name, or the last element of the name of the component, from the descriptor in the spec
// or from spec.component. If none of these is set, it returns the name that was resolved last, or "".
func NameOf(t *v1alpha1.ModuleTemplate) string {
	if t.Spec.ModuleName != "" {
		return t.Spec.ModuleName
	}
	if label := t.Labels[v1alpha1.LabelModuleName]; label != "" {
		return label
	}
	if component := componentOf(t); component != "" {
		return path.Base(component)
	}
	return t.Status.ModuleName
}

// componentOf a template by name. The descriptor is not read as a whole, as this is asked often.
func componentOf(t *v1alpha1.ModuleTemplate) string {
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

// checkName says what is wrong with the name of a module.
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
	return invalidf("%q, from %s, is not a valid module name: set spec.moduleName to at most %d lower case letters, digits, - and .",
		name, from, maxModuleName)
}

// installName of a resource, of a referenced component where there is one. Characters that an install cannot have become
// dashes, and a name that is too long ends in a hash of the whole.
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
