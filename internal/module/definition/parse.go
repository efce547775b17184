// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	yamlv3 "go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// maxSize bounds a definition with its aliases expanded, in bytes, and maxValues the number of its values.
const (
	maxSize   = 1 << 20
	maxValues = 50_000
)

// Parse parses module.yaml. Unknown and duplicate fields are errors. Errors are one line that names the field. Name and
// version may be missing, as they can be set by other means.
func Parse(data []byte) (*Definition, error) {
	limits := yamlsize.Limits{Bytes: maxSize, Values: maxValues}
	dec, err := limits.NewDecoder(data)
	if err != nil {
		return nil, err
	}
	if err := single(dec); err != nil {
		return nil, err
	}
	b, err := limits.JSON(data)
	if err != nil {
		return nil, errors.New(oneLine(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")))
	}
	if !bytes.HasPrefix(b, []byte("{")) {
		return nil, errors.New("must be a map with the fields name, version, charts, …")
	}
	d := &Definition{}
	strict, err := kjson.UnmarshalStrict(b, d)
	if err != nil {
		return nil, mismatch(err)
	}
	if len(strict) > 0 {
		return nil, errors.New(oneLine(strict[0].Error()))
	}
	return d, nil
}

// single returns an error if there is a second document, which would be ignored.
func single(dec *yamlv3.Decoder) error {
	var n yamlv3.Node
	if err := dec.Decode(&n); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("the file is empty: set at least name and version")
		}
		return errors.New(oneLine(err.Error()))
	}
	if err := dec.Decode(&n); !errors.Is(err, io.EOF) {
		return errors.New("the file contains more than one YAML document: remove the lines with ---")
	}
	return nil
}

// mismatch describes the error of a value that does not fit its field.
func mismatch(err error) error {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return errors.New(oneLine(err.Error()))
	}
	field := t.Field
	if field == "" {
		field = "the document"
	}
	want := t.Type.String()
	switch t.Type.Kind().String() {
	case "slice":
		want = "a list"
	case "struct", "map", "ptr":
		want = "a map"
	case "bool":
		want = "true or false"
	case "string":
		want = "text"
		if t.Value == "number" || t.Value == "bool" || strings.HasPrefix(t.Value, "number") {
			return errors.Errorf("%s must be a string, not a %s: enclose it in quotes", field, t.Value)
		}
	}
	return errors.Errorf("%s must be %[3]s, got %[2]s", field, t.Value, want)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
