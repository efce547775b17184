// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"
)

// Examined stores the progress of checks of the objects of CRDs, so that an interrupted check resumes in the next call. The
// zero value is ready to use. It is safe for concurrent use, and a nil *Examined stores nothing.
type Examined struct {
	mu sync.Mutex
	// by maps the name and the version of a CRD to the progress.
	by map[string]progress
}

// A progress describes how many objects of a CRD have been checked.
type progress struct {
	// of identifies the existing and the new CRD. The progress is only used for a check of the same two CRDs.
	of string
	// token is the continue token of the list, and found contains the findings so far.
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

// set replaces the progress for a CRD. If the token is empty, it deletes the progress.
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
