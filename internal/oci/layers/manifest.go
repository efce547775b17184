// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// MaxManifest is what registries must accept at least, in bytes, so clients send
// no more.
const MaxManifest = 4 << 20

// IsJSON tells JSON from an archive. No tar begins like that: its first
// file would need a name that begins with a brace, and a digest that was asked for.
func IsJSON(data []byte) bool {
	return len(data) <= MaxManifest && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && json.Valid(data)
}

// IsManifest tells a manifest from an archive, and from other JSON.
func IsManifest(data []byte) bool {
	if !IsJSON(data) {
		return false
	}
	m, err := v1.ParseManifest(bytes.NewReader(data))
	return err == nil && m.SchemaVersion != 0
}
