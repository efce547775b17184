// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"fmt"
	"regexp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
)

// Patterns of the JSON schema of component descriptors v2.
var (
	isComponent = regexp.MustCompile(`^[a-z0-9.\-]+[.][a-z][a-z]+/[-a-z0-9/_.]*$`)
	isName      = regexp.MustCompile(`^[a-z0-9]([-_+a-z0-9]*[a-z0-9])?$`)
	isVersion   = regexp.MustCompile(`^v?(0|[1-9]\d*)(\.(0|[1-9]\d*)){0,2}` +
		`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?` +
		`(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)
)

// maxText bounds strings in messages and statuses, in bytes: names, versions and types.
const maxText = 255

// validate checks the fields on which other functions rely. It is looser than component-spec where OCM is: sources and
// repository contexts may be of any type, and the version of a local resource may differ from the component's.
func validate(spec *v2.ComponentDescriptor) error {
	if spec.Metadata.Version != v2.SchemaVersion {
		return errors.Errorf("meta.schemaVersion: invalid value %.100q: must be %q", spec.Metadata.Version, v2.SchemaVersion)
	}
	if err := validateComponent("component", spec.Name, spec.Version); err != nil {
		return err
	}
	if spec.Provider == "" {
		return errors.New("component.provider is missing")
	}
	for i, c := range spec.RepositoryContexts {
		if err := validateTyped(c); err != nil {
			return errors.Wrapf(err, "component.repositoryContexts[%d]", i)
		}
	}
	if err := validateReferences(spec.ComponentReferences); err != nil {
		return err
	}
	if err := validateResources(spec.Resources); err != nil {
		return err
	}
	for i := range spec.Signatures {
		if spec.Signatures[i].Name == "" {
			return errors.Errorf("signatures[%d].name is missing", i)
		}
	}
	return nil
}

func validateComponent(path, name, version string) error {
	key := ".name"
	if path != "component" {
		key = ".componentName"
	}
	if len(name) > 255 || !isComponent.MatchString(name) {
		return errors.Errorf("%s: invalid value %.300q: must be a name such as example.org/module/name with at most 255 characters", path+key, name)
	}
	if err := validateLength(path+".version", version); err != nil {
		return err
	}
	if !isVersion.MatchString(version) {
		return errors.Errorf("%s: invalid value %.140q: must be a semantic version such as 1.2.3", path+".version", version)
	}
	return nil
}

func validateReferences(references []v2.ComponentReference) error {
	for i := range references {
		r, path := &references[i], fmt.Sprintf("component.componentReferences[%d]", i)
		if err := validateName(path, r.Name); err != nil {
			return err
		}
		if err := validateComponent(path, r.ComponentName, r.Version); err != nil {
			return err
		}
		if err := validateIdentity(path, r.ExtraIdentity); err != nil {
			return err
		}
	}
	return nil
}

func validateResources(resources []v2.Resource) error {
	seen := map[string]int{}
	for i := range resources {
		path := fmt.Sprintf("component.resources[%d]", i)
		if err := validateResource(path, &resources[i]); err != nil {
			return err
		}
		r := &resources[i]
		// Maps are printed in the order of their keys.
		id := fmt.Sprintf("%q %q %q", r.Name, r.Version, map[string]string(r.ExtraIdentity))
		if first, ok := seen[id]; ok {
			return errors.Errorf("%s has the same identity as component.resources[%d]: %q", path, first, r.Name)
		}
		seen[id] = i
	}
	return nil
}

func validateResource(path string, r *v2.Resource) error {
	if err := validateName(path, r.Name); err != nil {
		return err
	}
	if r.Version == "" {
		return errors.Errorf("%s.version is missing", path)
	}
	if err := validateLength(path+".version", r.Version); err != nil {
		return err
	}
	if r.Type == "" {
		return errors.Errorf("%s.type is missing", path)
	}
	if err := validateLength(path+".type", r.Type); err != nil {
		return err
	}
	if r.Relation != v2.LocalRelation && r.Relation != v2.ExternalRelation {
		return errors.Errorf("%s.relation: invalid value %.100q: must be %s or %s", path, string(r.Relation), v2.LocalRelation, v2.ExternalRelation)
	}
	if err := validateTyped(r.Access); err != nil {
		return errors.Wrap(err, path+".access")
	}
	return validateIdentity(path, r.ExtraIdentity)
}

func validateLength(path, text string) error {
	if len(text) > maxText {
		return errors.Errorf("%s has %d characters: must have at most %d", path, len(text), maxText)
	}
	return nil
}

func validateName(path, name string) error {
	if err := validateLength(path+".name", name); err != nil {
		return err
	}
	if len(name) < 2 || !isName.MatchString(name) {
		return errors.Errorf("%s.name: invalid value %.100q: must consist of two or more lowercase letters, digits, '-', '_' or '+'", path, name)
	}
	return nil
}

func validateIdentity(path string, identity v2.Identity) error {
	for key := range identity {
		if key == v2.SystemIdentityName || !isName.MatchString(key) {
			return errors.Errorf("%s.extraIdentity: invalid key %.100q: must consist of lowercase letters, digits, '-', '_' "+
				"or '+', and must not be name", path, key)
		}
	}
	return nil
}

// validateTyped checks an object whose fields depend on its type. The library would also accept Type for type.
func validateTyped(u *v2.UnstructuredTypedObject) error {
	if u == nil {
		return errors.New("is missing")
	}
	if t, ok := u.Object["type"].(string); !ok || t == "" || t != u.GetType() {
		return errors.New("type is missing")
	}
	if len(u.GetType()) > maxText {
		return errors.Errorf("type has %d characters: must have at most %d", len(u.GetType()), maxText)
	}
	return nil
}
