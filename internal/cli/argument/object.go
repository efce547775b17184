// SPDX-License-Identifier: Apache-2.0

package argument

import (
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// maxObject bounds a file with an object, in bytes. An API server takes no more.
const maxObject = 1 << 20

// ReadObject reads the YAML file that a flag names, or stdin where the path is a dash: a Kubernetes object, or values of a chart.
// The object is never nil.
func ReadObject(in io.Reader, flag, path string) (map[string]any, error) {
	data, err := readBounded(in, path)
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, errors.Wrap(err, flag))
	}
	object, err := parseObject(data)
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
func parseObject(data []byte) (map[string]any, error) {
	if err := (yamlsize.Limits{Bytes: maxObject}).Check(data); err != nil {
		return nil, err
	}
	encoded, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, errors.Wrap(err, "it is no YAML")
	}
	object := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &object); err != nil {
		return nil, errors.New("it is no object of values, as in \"replicas: 2\"")
	}
	if object == nil {
		// The file is empty.
		return map[string]any{}, nil
	}
	return object, nil
}
