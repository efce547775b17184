// SPDX-License-Identifier: Apache-2.0

package access

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/redact"
)

// A Session is what must be known about a Manifest between passes.
type Session struct {
	// Secrets contains the values of Secrets that charts looked up. A later pass may report what an earlier one rendered.
	Secrets redact.Values

	mu   sync.Mutex
	user string
}

// SetUser stores the user that requests of a pass were sent as.
func (s *Session) SetUser(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user = user
}

// User returns the user that the latest pass had. It is needed to remove what is installed after the config is gone.
func (s *Session) User() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user
}

// Sessions holds the session of each Manifest. The zero value is valid. It is safe for concurrent use.
type Sessions struct {
	by sync.Map // types.NamespacedName to *Session.
}

// Of returns the session of a Manifest. A nil *Sessions keeps none.
func (s *Sessions) Of(name types.NamespacedName) *Session {
	if s == nil {
		return &Session{}
	}
	if known, ok := s.by.Load(name); ok {
		return known.(*Session) //nolint:forcetypeassert // The map has only sessions.
	}
	known, _ := s.by.LoadOrStore(name, &Session{})
	return known.(*Session) //nolint:forcetypeassert // The map has only sessions.
}

// Forget removes the session of a Manifest.
func (s *Sessions) Forget(name types.NamespacedName) {
	if s != nil {
		s.by.Delete(name)
	}
}
