// SPDX-License-Identifier: Apache-2.0

package health

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A missingFieldError means that an expression selects a field that does not exist. Package cel has no exported type for that.
type missingFieldError struct {
	error
}

// Unwrap returns the error of the evaluation.
func (e *missingFieldError) Unwrap() error { return e.error }

// markMissingFields makes a program return a *missingFieldError if it selects a field that does not exist. Messages and values
// stay the same.
func markMissingFields() cel.ProgramOption {
	// The planner calls the decorator again for each field that is selected.
	marked := map[interpreter.Attribute]bool{}
	return cel.CustomDecoratorV2(func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		a, ok := i.(interpreter.InterpretableAttribute)
		if !ok || marked[a.Attr()] {
			return i, nil
		}
		marked[a.Attr()] = true
		return &markedAttribute{InterpretableAttribute: a}, nil
	})
}

// A markedAttribute is a variable or a value whose fields are selected.
type markedAttribute struct {
	interpreter.InterpretableAttribute
}

// AddQualifier adds a qualifier that selects a field. If the field does not exist, the qualifier returns a *missingFieldError.
func (a *markedAttribute) AddQualifier(q interpreter.Qualifier) (interpreter.Attribute, error) {
	switch q := q.(type) {
	case interpreter.ConstantQualifier:
		return a.InterpretableAttribute.AddQualifier(constantField{ConstantQualifier: q, adapter: a.Adapter()})
	case interpreter.Attribute:
		return a.InterpretableAttribute.AddQualifier(computedField{Attribute: q})
	}
	return a.InterpretableAttribute.AddQualifier(q)
}

// A constantField is a qualifier that selects a field by a name or an index in the expression.
type constantField struct {
	interpreter.ConstantQualifier

	adapter types.Adapter
}

// Qualify returns the value of the field.
func (f constantField) Qualify(vars interpreter.Activation, obj any) (any, error) {
	v, err := f.ConstantQualifier.Qualify(vars, obj)
	if err != nil && lacks(f.adapter.NativeToValue(obj), f.Value()) {
		return v, &missingFieldError{error: err}
	}
	return v, err
}

// lacks reports whether a value does not have a field. An index past the end of a list does not count as a missing field.
func lacks(v, field ref.Val) bool {
	switch v := v.(type) {
	case *types.Err, *types.Unknown, traits.Lister:
		return false
	case traits.Mapper:
		found, ok := v.Find(field)
		return !ok && !types.IsError(found)
	}
	return true
}

// A computedField is a qualifier that selects a field by the value of another attribute.
type computedField struct {
	interpreter.Attribute
}

// Qualify returns the value of the field.
func (f computedField) Qualify(vars interpreter.Activation, obj any) (any, error) {
	v, err := f.Attribute.Qualify(vars, obj)
	if missing := (*missingFieldError)(nil); err == nil || errors.As(err, &missing) {
		return v, err
	}
	switch obj.(type) {
	case []any, traits.Lister:
		return v, err
	}
	if _, exists, presence := f.QualifyIfPresent(vars, obj, true); presence == nil && !exists {
		return v, &missingFieldError{error: err}
	}
	return v, err
}
