// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-kyma/internal/oci/store/storetest"
)

// TestLayoutDrop checks that only unreferenced content is removed.
func TestLayoutDrop(t *testing.T) {
	path := t.TempDir()
	l := newLayout(t, path)
	used := storetest.Artifact(t, l, "1", "one", 2, nil)
	storetest.Artifact(t, l, "2", "two", 2, nil)
	storetest.Put(t, l, []byte("of someone who is still writing"))
	before := storetest.FilesOf(t, path)
	lost := storetest.Put(t, l, []byte("lost"))
	absent := "sha256:" + strings.Repeat("0", 64)
	for range 2 {
		if err := l.Drop(t.Context(), string(used.Digest), string(lost.Digest), absent, "../../index.json"); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, l)
	if diff := cmp.Diff(before, storetest.FilesOf(t, path)); diff != "" {
		t.Errorf("Drop(...): -want, +got:\n%.1000s", diff)
	}
}
