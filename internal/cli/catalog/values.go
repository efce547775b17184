// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-kyma/internal/cli/command"
	"github.com/crossplane-contrib/provider-kyma/internal/yamlsize"
)

// maxValues bounds a file of values, in bytes. An API server takes no more.
const maxValues = 1 << 20

// readValues reads a file of values, or stdin where the path is a dash. They are never nil.
func readValues(in io.Reader, path string) (map[string]any, error) {
	data, err := readBounded(in, path)
	if err != nil {
		return nil, command.WithCode(command.ExitUsage, errors.Wrap(err, "--values"))
	}
	values, err := parseValues(data)
	if err != nil {
		return nil, command.Usagef("--values: %s: %s", path, err)
	}
	return values, nil
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
	return io.ReadAll(io.LimitReader(in, maxValues+1))
}

// parseValues as the API server has them: numbers that are whole are so, and none is rounded.
func parseValues(data []byte) (map[string]any, error) {
	if err := (yamlsize.Limits{Bytes: maxValues}).Check(data); err != nil {
		return nil, err
	}
	encoded, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, errors.Wrap(err, "it is no YAML")
	}
	values := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(encoded, &values); err != nil {
		return nil, errors.New("it is no object of values, as in \"replicas: 2\"")
	}
	if values == nil {
		// The file is empty.
		return map[string]any{}, nil
	}
	return values, nil
}
