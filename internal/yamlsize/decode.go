// SPDX-License-Identifier: Apache-2.0

package yamlsize

import (
	"bytes"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// A limitError is an error of Check. It describes a document that was not decoded.
type limitError struct{ error }

func (e *limitError) Unwrap() error { return e.error }

// Exceeds reports whether an error means that a document exceeds a limit. All other errors come from the parser.
func Exceeds(err error) bool {
	e := (*limitError)(nil)
	return errors.As(err, &e)
}

// JSON converts a document to JSON. It returns an error if the document exceeds the limits or has duplicate keys.
func (l Limits) JSON(data []byte) ([]byte, error) {
	if err := l.Check(data); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSONStrict(data)
}

// LooseJSON converts a document to JSON. It returns an error if the document exceeds the limits. As in Helm, the last of
// several duplicate keys applies.
func (l Limits) LooseJSON(data []byte) ([]byte, error) {
	if err := l.Check(data); err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(data)
}

// Unmarshal decodes a document in the same way as encoding/json. It returns an error if the document exceeds the limits. The
// last of several duplicate keys applies.
func (l Limits) Unmarshal(data []byte, into any) error {
	if err := l.Check(data); err != nil {
		return err
	}
	return yaml.Unmarshal(data, into)
}

// NewDecoder returns a decoder for the nodes of documents. It returns an error if the documents together exceed the limits.
func (l Limits) NewDecoder(data []byte) (*yamlv3.Decoder, error) {
	if err := l.Check(data); err != nil {
		return nil, err
	}
	return yamlv3.NewDecoder(bytes.NewReader(data)), nil
}
