// SPDX-License-Identifier: Apache-2.0

package bytelru

import (
	"sync"
	"sync/atomic"
)

// A Usage is the use of all caches with one name.
type Usage struct {
	// Hits and Misses count the calls of Get that found a value, and those that did not.
	Hits, Misses int64
	// Bytes is the size of all entries.
	Bytes int64
}

type usage struct{ hits, misses, bytes atomic.Int64 }

// usages contains the *usage of each name. Caches live as long as the process.
var usages sync.Map //nolint:gochecknoglobals // Caches are created in many places, and metrics show those of the whole process.

func usageOf(name string) *usage {
	u, _ := usages.LoadOrStore(name, &usage{})
	return u.(*usage) //nolint:forcetypeassert // The map has only these values.
}

// Usages returns the use of the caches of the process by name.
func Usages() map[string]Usage {
	out := map[string]Usage{}
	usages.Range(func(name, value any) bool {
		u := value.(*usage)                                                                             //nolint:forcetypeassert // See above.
		out[name.(string)] = Usage{Hits: u.hits.Load(), Misses: u.misses.Load(), Bytes: u.bytes.Load()} //nolint:forcetypeassert // See above.
		return true
	})
	return out
}
