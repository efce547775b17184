// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/object"
)

// Validate returns an error if the bundle is invalid, for example if two parts have the same name.
func (b *Bundle) Validate() error {
	if b.CRDs != nil && b.CRDs.Digest == "" {
		return errors.New("crds have no digest")
	}
	if b.Config != nil && b.Config.Digest == "" {
		return errors.New("config has no digest")
	}
	if err := b.validateFuncs(); err != nil {
		return err
	}
	seen := make(map[string]bool, len(b.Installs))
	for i := range b.Installs {
		in := &b.Installs[i]
		if in.Name == "" || strings.Contains(in.Name, ":") {
			return errors.Errorf("install at index %d: name %q must not be empty and must not contain a colon", i, in.Name)
		}
		if b.titled(in.Name) {
			return errors.Errorf("install %q uses a reserved name; rename the install", in.Name)
		}
		if seen[in.Name] {
			return errors.Errorf("install %q is listed twice; rename or remove one of them", in.Name)
		}
		if err := in.validate(); err != nil {
			return errors.Wrapf(err, "install %q", in.Name)
		}
		seen[in.Name] = true
	}
	return nil
}

// titled reports whether a part other than an install has the given name in messages and in the status.
func (b *Bundle) titled(name string) bool {
	return b.CRDs != nil && name == object.PartCRDs.String() || b.Resource != nil && name == object.PartResource.String()
}

// validateFuncs checks transforms and readiness rules. A transform without a digest is an error, because the engine could not
// detect a change of it.
func (b *Bundle) validateFuncs() error {
	for i := range b.Transforms {
		switch t := &b.Transforms[i]; {
		case t.Digest == "":
			return errors.Errorf("transforms[%d] has no digest", i)
		case t.Func == nil:
			return errors.Errorf("transforms[%d] %s has no function", i, t.Digest)
		}
	}
	if b.Confinement != nil && b.Confinement.Digest == "" {
		return errors.New("confinement has no digest")
	}
	for i := range b.Readiness {
		if err := b.Readiness[i].validate(); err != nil {
			return errors.Wrapf(err, "readiness[%d]", i)
		}
	}
	return nil
}
