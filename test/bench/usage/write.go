// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// WriteJSON writes a result as JSON, and replaces the file as a whole.
func WriteJSON(path string, result any) error {
	data, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return errors.Wrap(err, "cannot encode the result")
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".bench-*")
	if err != nil {
		return errors.Wrap(err, "cannot write the result")
	}
	_, err = temporary.Write(append(data, '\n'))
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	return errors.Wrap(err, "cannot write the result")
}
