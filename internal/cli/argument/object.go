// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"bytes"
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	yamlv3 "go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// maxObject bounds a file with an object, in bytes. An API server takes no more.
const maxObject = 1 << 20

// What a file with one YAML object holds.
const (
	KubernetesObject = "Kubernetes object, which has apiVersion, kind and metadata"
	Values           = "object of values, as in \"replicas: 2\""
)

// ReadObject reads the YAML file that a flag names, or stdin where the path is a dash. An error calls what is missing by kind,
// which is KubernetesObject or Values. The object is never nil.
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

// parseObject parses YAML as the API server does: numbers that are whole are so, and none is rounded.
func parseObject(data []byte, kind string) (map[string]any, error) {
	if err := (yamlsize.Limits{Bytes: maxObject}).Check(data); err != nil {
		return nil, err
	}
	encoded, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, errors.Wrap(err, "it is no YAML")
	}
	if err := checkSingle(data); err != nil {
		return nil, err
	}
	object := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &object); err != nil {
		return nil, errors.New("it is no " + kind)
	}
	if object == nil {
		// The file is empty.
		return map[string]any{}, nil
	}
	return object, nil
}

// checkSingle refuses what holds a second YAML document, which YAMLToJSONStrict ignores. Documents without content do not count.
func checkSingle(data []byte) error {
	d := yamlv3.NewDecoder(bytes.NewReader(data))
	for first := true; ; first = false {
		var n yamlv3.Node
		switch err := d.Decode(&n); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errors.Wrap(err, "it is no YAML")
		case !first && !isEmpty(&n):
			return errors.New("it holds more than one YAML document: want one")
		}
	}
}

// isEmpty reports whether a YAML document holds comments at most.
func isEmpty(document *yamlv3.Node) bool {
	return len(document.Content) == 0 || document.Content[0].Tag == "!!null"
}
