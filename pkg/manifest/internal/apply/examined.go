// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"
)

// Examined keeps how far the objects of CRDs were examined, so that a check that is interrupted continues in the next call. The zero
// value is ready to use. It is safe for concurrent use, and a nil *Examined keeps nothing.
type Examined struct {
	mu sync.Mutex
	// by contains the progress by the name and the version of the CRD.
	by map[string]progress
}

// A progress is how far the objects of a CRD were examined.
type progress struct {
	// of identifies the existing and the new CRD. The progress of a check of others is not used.
	of string
	// token continues the list, and found is what was found before.
	token string
	found finding
}

// get returns the progress for the given CRDs, or the zero value.
func (e *Examined) get(name, of string) progress {
	if e == nil {
		return progress{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.by[name]; p.of == of {
		return p
	}
	return progress{}
}

// set replaces the progress for a CRD. Without a token, it forgets the progress.
func (e *Examined) set(name string, p progress) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if p.token == "" {
		delete(e.by, name)
		return
	}
	if e.by == nil {
		e.by = map[string]progress{}
	}
	e.by[name] = p
}
