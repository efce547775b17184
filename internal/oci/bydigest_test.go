// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// byDigest is a case of something that is pulled by its digest.
type byDigest struct {
	reason string
	digest string
	want   []byte
	err    string
}

// fetchEach of the cases twice: the second time without a request.
func (s *server) fetchEach(t *testing.T, fetch func(*Puller, context.Context, Registries, string, string) ([]byte, error), cases map[string]byDigest) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPuller(t)
			for i := range 2 {
				s.forget()
				got, err := fetch(p, t.Context(), s.plain("", ""), s.host()+"/"+repo, tc.digest)
				if tc.err == "" && err != nil || !strings.Contains(text(err), tc.err) {
					t.Errorf("\n%s\nfetch(...): error %q does not contain %q", tc.reason, text(err), tc.err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nfetch(...): -want, +got:\n%s", tc.reason, diff)
				}
				if n := s.count("", ""); i == 1 && tc.err == "" && n != 0 {
					t.Errorf("\n%s\nfetch(...) again: want no requests, got %d", tc.reason, n)
				}
			}
		})
	}
}

// pushIndex of one manifest; its digest is returned.
func (s *server) pushIndex(t *testing.T, manifest string) string {
	t.Helper()
	index := fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"digest":%q,"size":1,"mediaType":"application/vnd.oci.image.manifest.v1+json"}]}`, manifest)
	s.send(t, http.MethodPut, "/v2/"+repo+"/manifests/index", "application/vnd.oci.image.index.v1+json", index)
	return digestOf(index)
}
