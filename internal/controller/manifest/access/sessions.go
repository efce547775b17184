// SPDX-License-Identifier: Apache-2.0

package access

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-kyma/internal/controller/redact"
)

// A Session contains the state of a Manifest that is kept between passes.
type Session struct {
	// Secrets contains the values of Secrets that charts looked up. A later pass can report what an earlier pass rendered.
	Secrets redact.Values

	mu   sync.Mutex
	user string
}

// SetUser stores the user as which the requests of a pass are sent.
func (s *Session) SetUser(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user = user
}

// User returns the user of the latest pass. It is needed to remove installed objects after the config has been deleted.
func (s *Session) User() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user
}

// Sessions holds the session of each Manifest. The zero value is valid. It is safe for concurrent use.
type Sessions struct {
	by sync.Map // types.NamespacedName to *Session.
}

// Of returns the session of a Manifest. A nil *Sessions stores no sessions.
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
