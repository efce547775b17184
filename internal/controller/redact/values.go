// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// maxBytes is the maximum size of all Values of one Manifest.
	maxBytes = 4 << 20
	// maxValues is their maximum number. A value takes up to 128 bytes in addition to its length, so all of them take at most 7 MiB. If
	// they are short, a Redactor has room for all of their forms.
	maxValues = 20_000
)

// Values is a growing set of secret values. The zero value is an empty set, and a nil *Values stays empty. It is safe for
// concurrent use.
type Values struct {
	mu    sync.Mutex
	known map[string]struct{}
	list  []string
	bytes int
}

// Add adds a value. If the set would become too large, it returns an error. The caller must then not use the value, because it
// could not be redacted from texts.
func (v *Values) Add(value string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ok := v.known[value]; ok || len(value) < shortest {
		return nil
	}
	if len(v.list) == maxValues {
		return errors.Errorf("the Secrets contain more than %d values, which are too many to redact them in messages; look up single Secrets by name",
			maxValues)
	}
	if v.bytes+len(value) > maxBytes {
		return errors.Errorf("the total size of the Secrets exceeds %d MiB, which is too large to redact their values in messages; "+
			"look up single Secrets by name", maxBytes>>20)
	}
	if v.known == nil {
		v.known = map[string]struct{}{}
	}
	v.known[value] = struct{}{}
	v.list, v.bytes = append(v.list, value), v.bytes+len(value)
	return nil
}

// all returns all values, in the order in which they were added. The caller must not change the result.
func (v *Values) all() []string {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.list[:len(v.list):len(v.list)]
}
