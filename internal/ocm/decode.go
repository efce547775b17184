// SPDX-License-Identifier: Apache-2.0

package ocm

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	v2 "github.com/gardener/component-spec/bindings-go/apis/v2"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

const (
	// MaxDescriptor bounds a descriptor with its aliases expanded, in bytes.
	MaxDescriptor = 4 << 20
	// maxValues bounds the separators in a descriptor. Large descriptors have some thousands; 4 MiB of commas would
	// need a gigabyte of memory.
	maxValues = 250_000
)

// An InvalidError reports that content is itself invalid, so that reading it again does not help.
type InvalidError struct{ err error }

// Error returns the message, which is one line.
func (e *InvalidError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *InvalidError) Unwrap() error { return e.err }

// Invalid wraps an error that a caller found in content in an *InvalidError.
func Invalid(err error) *InvalidError { return &InvalidError{err: err} }

// Decode decodes a component descriptor of schema version v2, YAML or JSON, of at most 4 MiB and 250000 values. It
// accepts what component-spec and OCM write, keeps unknown fields, refuses duplicate ones, and validates only the
// fields that this provider uses. The error is an *InvalidError, one line that names the field.
func Decode(data []byte) (*Descriptor, error) {
	d, err := decode(data)
	if err != nil {
		return nil, Invalid(errors.Wrap(err, "cannot read component descriptor"))
	}
	return d, nil
}

func decode(data []byte) (*Descriptor, error) {
	if len(data) > MaxDescriptor {
		return nil, errors.Errorf("content is larger than the limit of %d bytes", MaxDescriptor)
	}
	if !utf8.Valid(data) {
		return nil, errors.New("must be UTF-8")
	}
	if err := (yamlsize.Limits{Bytes: MaxDescriptor, Values: maxValues}).CheckJSON(data); err != nil {
		return nil, err
	}
	tree, err := parse(data)
	if err != nil {
		return nil, err
	}
	raw, err := encode(tree)
	if err != nil {
		return nil, err
	}
	d := &Descriptor{spec: &v2.ComponentDescriptor{}, raw: raw}
	// The standard library would also accept Name for name, and so read other values than other readers do.
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, d.spec); err != nil {
		return nil, wrongType(err)
	}
	return d, validate(d.spec)
}

// parse decodes a JSON or YAML document.
func parse(data []byte) (map[string]any, error) {
	// Not all JSON is YAML, for example with tabs.
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && json.Valid(data) {
		return parseJSON(data)
	}
	converted, err := yamlsize.Limits{Bytes: MaxDescriptor, Values: maxValues}.JSON(data)
	if yamlsize.Exceeds(err) {
		return nil, err
	}
	if err != nil {
		return nil, errors.New(oneLine(err.Error()))
	}
	return parseJSON(converted)
}

func parseJSON(data []byte) (map[string]any, error) {
	var tree map[string]any
	strict, err := kjson.UnmarshalStrict(data, &tree)
	if err != nil {
		return nil, wrongType(err)
	}
	if len(strict) > 0 {
		return nil, errors.New(oneLine(strict[0].Error()))
	}
	if tree == nil {
		return nil, errors.New("content is empty")
	}
	return tree, nil
}

// encode returns a descriptor as JSON in the form in which it is stored and pushed.
func encode(tree map[string]any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// wrongType returns the error of an unmarshaler as one line that names the field.
func wrongType(err error) error {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return errors.New(oneLine(err.Error()))
	}
	if t.Field == "" {
		return errors.Errorf("must be an object, got %s", t.Value)
	}
	return errors.Errorf("%s: must be of type %[3]s, got %[2]s", t.Field, t.Value, t.Type.Kind())
}
