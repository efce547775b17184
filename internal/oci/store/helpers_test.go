// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/layout"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/remote"
)

// newServer starts a test registry, without the credentials of the machine.
func newServer(tb testing.TB, o ...registry.Option) *ocitest.Server {
	tb.Helper()
	ocitest.Isolate(tb)
	return ocitest.NewRegistry(tb, o...)
}

// writes returns the number of write requests.
func writes(s *ocitest.Server) int {
	return s.Count("PUT", "") + s.Count("POST", "") + s.Count("PATCH", "")
}

// repositoryAt returns a repository of s with short waiting times.
func repositoryAt(tb testing.TB, s *ocitest.Server, path string) *remote.Repository {
	tb.Helper()
	r, err := remote.New(s.Host()+"/"+path, oci.Registries{{Host: s.Host(), PlainHTTP: true}})
	if err != nil {
		tb.Fatal(err)
	}
	out := r.(*remote.Repository)
	for i := range out.Pauses {
		out.Pauses[i] = time.Millisecond
	}
	return out
}

func newLayout(tb testing.TB, path string) *layout.Store {
	tb.Helper()
	l, err := layout.Create(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Discard() })
	return l
}

func openLayout(tb testing.TB, path string) *layout.Store {
	tb.Helper()
	l, err := layout.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

func mustClose(tb testing.TB, l *layout.Store) {
	tb.Helper()
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
