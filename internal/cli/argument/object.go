// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	yamlv3 "go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// maxObject is the maximum size of an object file in bytes, about as much as an API server accepts.
const maxObject = 1 << 20

// Kinds of objects in a YAML file, as named in errors.
const (
	KubernetesObject = "a Kubernetes object with apiVersion, kind and metadata"
	Values           = "an object of values, as in \"replicas: 2\""
)

// ReadObject reads one object from the YAML file at path, or from stdin if path is a dash. Errors are usage errors that begin
// with the name of the flag. kind describes the expected object in errors: KubernetesObject or Values. The returned object is
// never nil.
func ReadObject(in io.Reader, flag, path, kind string) (map[string]any, error) {
	data, err := readBounded(in, path)
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, errors.Wrap(err, flag))
	}
	object, err := parseObject(data, kind)
	if err != nil {
		return nil, command.Usagef("%s: %s: %s", flag, path, err)
	}
	return object, nil
}

func readBounded(in io.Reader, path string) ([]byte, error) {
	if path != "-" {
		f, err := os.Open(path) //nolint:gosec // The user names their own file.
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, maxObject+1))
}

// parseObject parses one YAML document as the API server does: whole numbers become int64 and are not rounded. An empty
// document becomes an empty object.
func parseObject(data []byte, kind string) (map[string]any, error) {
	limits := yamlsize.Limits{Bytes: maxObject}
	encoded, err := limits.JSON(data)
	if yamlsize.Exceeds(err) {
		return nil, err
	}
	if err != nil {
		return nil, errors.Wrap(err, "invalid YAML")
	}
	documents, err := limits.NewDecoder(data)
	if err != nil {
		return nil, err
	}
	if err := checkSingle(documents); err != nil {
		return nil, err
	}
	object := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &object); err != nil {
		return nil, errors.New("expected " + kind)
	}
	if object == nil {
		// The file is empty.
		return map[string]any{}, nil
	}
	return object, nil
}

// checkSingle returns an error if there is a second YAML document, which YAMLToJSONStrict would ignore. It ignores empty
// documents.
func checkSingle(d *yamlv3.Decoder) error {
	for first := true; ; first = false {
		var n yamlv3.Node
		switch err := d.Decode(&n); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errors.Wrap(err, "invalid YAML")
		case !first && !isEmpty(&n):
			return errors.New("more than one YAML document")
		}
	}
}

// isEmpty reports whether a YAML document has no content except comments.
func isEmpty(document *yamlv3.Node) bool {
	return len(document.Content) == 0 || document.Content[0].Tag == "!!null"
}
