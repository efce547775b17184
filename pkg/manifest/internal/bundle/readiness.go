// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/health"
	"github.com/crossplane-contrib/provider-kyma/pkg/manifest/internal/text"
)

// A Rule decides when the objects of a kind are ready.
type Rule struct {
	// CEL is a Boolean expression over the variable object.
	CEL string

	// Func is used instead of an expression; set exactly one of the two. It is called once for each version of an object. The
	// message explains a state other than Ready. If Func returns an error, the object is in state Error.
	Func func(ctx context.Context, u *unstructured.Unstructured) (health.State, string, error)

	// For is the kind to which the rule applies. The zero value means the custom resource of the bundle.
	For schema.GroupKind
}

// ID identifies a rule among the rules for one kind. All functions have the same ID, because functions cannot be compared.
func (r Rule) ID() string {
	if r.Func != nil {
		return "func"
	}
	return r.CEL
}

// Validate returns the error that the engine would report for the rule, or nil if the rule is valid.
func (r Rule) Validate() error {
	if err := r.validate(); err != nil || r.Func != nil {
		return err
	}
	_, err := health.NewRules().Program(r.CEL)
	return err
}

func (r Rule) validate() error {
	switch {
	case r.CEL == "" && r.Func == nil:
		return errors.New("either an expression or a function is required")
	case r.CEL != "" && r.Func != nil:
		return errors.New("expression and function are mutually exclusive; remove one of them")
	}
	return nil
}

// Evaluate calls Func, which must be set. The message explains a state other than Ready.
func (r Rule) Evaluate(ctx context.Context, u *unstructured.Unstructured) (s health.State, message string, err error) {
	defer recoverTo(&err)
	if s, message, err = r.Func(ctx, u); err != nil {
		return health.Error, "", err
	}
	if !s.Valid() {
		return health.Error, "", errors.Errorf("the readiness function returned unknown state %q", s)
	}
	if s != health.Ready {
		message = cmp.Or(text.OneLine(message), "the readiness function returned state "+string(s))
	}
	return s, message, nil
}
