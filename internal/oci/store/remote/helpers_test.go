// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

// newServer starts a test registry, without the credentials of the machine.
func newServer(tb testing.TB, o ...registry.Option) *ocitest.Server {
	tb.Helper()
	ocitest.Isolate(tb)
	return ocitest.NewRegistry(tb, o...)
}

// repositoryAt returns a repository of s with short waiting times.
func repositoryAt(tb testing.TB, s *ocitest.Server, path string) *Repository {
	tb.Helper()
	r, err := New(s.Host()+"/"+path, oci.Registries{{Host: s.Host(), PlainHTTP: true}})
	if err != nil {
		tb.Fatal(err)
	}
	out := r.(*Repository)
	for i := range out.Pauses {
		out.Pauses[i] = time.Millisecond
	}
	return out
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
