// SPDX-License-Identifier: Apache-2.0

package pull

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/ocitest"
)

// byDigest is a test case for content that is pulled by its digest.
type byDigest struct {
	reason string
	digest string
	want   []byte
	err    string
}

// fetchEach fetches the content of each test case twice. The second time, no request must be sent.
func fetchEach(t *testing.T, s *ocitest.Server, fetch func(*Client, context.Context, oci.Registries, string, string) ([]byte, error), cases map[string]byDigest) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newClient(t)
			for i := range 2 {
				s.Forget()
				got, err := fetch(p, t.Context(), s.Plain("", ""), s.Host()+"/"+repo, tc.digest)
				if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
					t.Errorf("\n%s\nfetch(...): error %q does not contain %q", tc.reason, text(err), tc.err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nfetch(...): -want, +got:\n%s", tc.reason, diff)
				}
				if n := s.Count("", ""); i == 1 && tc.err == "" && n != 0 {
					t.Errorf("\n%s\nfetch(...) again: want no requests, got %d", tc.reason, n)
				}
			}
		})
	}
}
