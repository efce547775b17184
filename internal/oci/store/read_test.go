// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-kyma/internal/oci"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store"
	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
)

func TestReadBlob(t *testing.T) {
	l := newLayout(t, t.TempDir())
	d := storetest.Put(t, l, []byte("12345"))
	if got, err := store.ReadBlob(t.Context(), l, string(d.Digest), 5); string(got) != "12345" || err != nil {
		t.Errorf("ReadBlob(...): %q, %v", got, err)
	}
	if _, err := store.ReadBlob(t.Context(), l, string(d.Digest), 4); !strings.Contains(text(err), "larger than the limit of 4 bytes") {
		t.Errorf("ReadBlob(...) of too much: %v", err)
	}
	if _, err := store.ReadBlob(t.Context(), l, oci.DigestOf([]byte("no")), 4); !errors.As(err, new(*store.NotFoundError)) {
		t.Errorf("ReadBlob(...) of nothing: %v", err)
	}
}
