// SPDX-License-Identifier: Apache-2.0

package yamlsize

import (
	"bytes"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// A limitError is an error of Check, which describes a document that was not decoded.
type limitError struct{ error }

func (e *limitError) Unwrap() error { return e.error }

// Exceeds reports whether an error means that a document exceeds a limit. Other errors are those of its parser.
func Exceeds(err error) bool {
	e := (*limitError)(nil)
	return errors.As(err, &e)
}

// JSON converts a document within the limits to JSON. Duplicate keys are errors.
func (l Limits) JSON(data []byte) ([]byte, error) {
	if err := l.Check(data); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSONStrict(data)
}

// LooseJSON converts a document within the limits to JSON. The last of duplicate keys counts, as in Helm.
func (l Limits) LooseJSON(data []byte) ([]byte, error) {
	if err := l.Check(data); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(data)
}

// Unmarshal decodes a document within the limits like encoding/json. The last of duplicate keys counts.
func (l Limits) Unmarshal(data []byte, into any) error {
	if err := l.Check(data); err != nil {
		return err
	}
	return yaml.Unmarshal(data, into)
}

// NewDecoder returns a decoder of the nodes of documents, which are within the limits together.
func (l Limits) NewDecoder(data []byte) (*yamlv3.Decoder, error) {
	if err := l.Check(data); err != nil {
		return nil, err
	}
	return yamlv3.NewDecoder(bytes.NewReader(data)), nil
}
