// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

// TestBlobWithdrawn checks that the cache serves no content once the registry has started to reject the credentials.
func TestBlobWithdrawn(t *testing.T) {
	s := ocitest.NewRegistry(t)
	known, other := s.Push(t, repo, ocitest.Chart(t, "known")), s.Push(t, repo, ocitest.Chart(t, "other"))
	s.Demand(user, password)
	p, regs, at := newClient(t), s.Plain(user, password), s.Host()+"/"+repo
	if _, err := p.Blob(t.Context(), regs, at, known); err != nil {
		t.Fatal(err)
	}
	s.Demand(user, "changed")
	if _, err := p.Blob(t.Context(), regs, at, other); !strings.Contains(text(err), "401") {
		t.Fatalf("want 401 for other content, got %v", err)
	}
	if data, err := p.Blob(t.Context(), regs, at, known); data != nil || !strings.Contains(text(err), "401") {
		t.Errorf("Blob(...): %d bytes from the cache, error %v", len(data), err)
	}
	s.Demand(user, password)
	if _, err := p.Blob(t.Context(), regs, at, known); err != nil {
		t.Errorf("Blob(...) with rights: %v", err)
	}
}
