// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
)

// TestCopySignatures checks that no signature is lost.
func TestCopySignatures(t *testing.T) {
	s := newServer(t)
	source := repositoryAt(t, s, "source")
	root := storetest.Artifact(t, source, "1", "one", 1, nil)
	tag := store.FallbackTag(string(root.Digest)) + ".sig"
	sign := func(to store.Store, by ...string) v1.Descriptor {
		m := v1.Manifest{MediaType: v1.MediaTypeImageManifest, Layers: []v1.Descriptor{}}
		m.SchemaVersion = 2
		m.Config = storetest.Put(t, to, []byte("{}"))
		for _, b := range by {
			l := storetest.Put(t, to, []byte("payload"))
			l.Annotations = map[string]string{"dev.cosignproject.cosign/signature": b}
			m.Layers = append(m.Layers, l)
		}
		return storetest.PutManifest(t, to, m, tag)
	}
	cases := map[string]struct {
		reason     string
		ours       []string
		theirs     []string
		overwrite  bool
		keep, fail bool
	}{
		"More":      {reason: "An attachment that is missing is written.", ours: []string{"a", "b"}, theirs: []string{"a"}},
		"Less":      {reason: "An attachment that only the destination has is kept.", ours: []string{"a"}, theirs: []string{"a", "b"}, keep: true},
		"Other":     {reason: "Other attachments are not replaced.", ours: []string{"a"}, theirs: []string{"b"}, fail: true},
		"Overwrite": {reason: "Attachments are replaced on request.", ours: []string{"a"}, theirs: []string{"b"}, overwrite: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			to := repositoryAt(t, s, strings.ToLower(name))
			ours, theirs := sign(source, tc.ours...), sign(to, tc.theirs...)
			_, err := store.Copy(t.Context(), source, "1", to, store.CopyOptions{Tag: "x", Attachments: true, Overwrite: tc.overwrite})
			var exists *store.ExistsError
			if errors.As(err, &exists) != tc.fail || !tc.fail && err != nil {
				t.Errorf("\n%s\nCopy(...): %v", tc.reason, err)
			}
			want := ours.Digest
			if tc.keep || tc.fail {
				want = theirs.Digest
			}
			_, have, err := to.Manifest(t.Context(), tag)
			if diff := cmp.Diff(string(want), have); diff != "" || err != nil {
				t.Errorf("\n%s\nCopy(...): -want, +got:\n%s%v", tc.reason, diff, err)
			}
		})
	}
}
