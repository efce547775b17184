// SPDX-License-Identifier: Apache-2.0

package object

import (
	"strings"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// These are the values that DefaultIdentity returns.
const (
	DefaultFieldManager = "provider-kyma"
	DefaultManagedBy    = "provider-kyma"
)

// An Identity contains the names that an engine uses in clusters and by which it recognizes its objects and fields. Both values
// are required.
type Identity struct {
	// FieldManager is the field manager of everything that the engine applies.
	FieldManager string
	// ManagedBy is the value of LabelManagedBy on each object that the engine installs, and on the inventory. Watches select objects
	// by this value. AnnotationTooling of the inventory starts with it.
	ManagedBy string
}

// DefaultIdentity returns the identity of an engine for which no identity is configured.
func DefaultIdentity() Identity {
	return Identity{FieldManager: DefaultFieldManager, ManagedBy: DefaultManagedBy}
}

// Validate returns an error if an API server would reject the identity.
func (i Identity) Validate() error {
	if i.FieldManager == "" {
		return errors.New("the identity has no field manager")
	}
	if errs := metav1validation.ValidateFieldManager(i.FieldManager, field.NewPath("fieldManager")); len(errs) > 0 {
		return errors.Wrap(errs.ToAggregate(), "invalid field manager of the identity")
	}
	if i.ManagedBy == "" {
		return errors.Errorf("the identity has no value for label %s", LabelManagedBy)
	}
	if problems := validation.IsValidLabelValue(i.ManagedBy); len(problems) > 0 {
		return errors.Errorf("the identity has invalid value %q for label %s: %s", i.ManagedBy, LabelManagedBy,
			strings.Join(problems, "; "))
	}
	return nil
}
