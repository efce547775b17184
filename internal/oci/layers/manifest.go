// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// MaxManifest is the size that every registry must accept, in bytes, so clients push no larger manifest.
const MaxManifest = 4 << 20

// IsJSON reports whether data is JSON rather than an archive. No tar begins like JSON: its first file would need a
// name that begins with a brace, and the requested digest.
func IsJSON(data []byte) bool {
	return len(data) <= MaxManifest && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && json.Valid(data)
}

// IsManifest reports whether data is a manifest rather than an archive or other JSON.
func IsManifest(data []byte) bool {
	if !IsJSON(data) {
		return false
	}
	m, err := v1.ParseManifest(bytes.NewReader(data))
	return err == nil && m.SchemaVersion != 0
}
