// SPDX-License-Identifier: Apache-2.0

package store

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLayoutDrop says that only what nothing refers to goes.
func TestLayoutDrop(t *testing.T) {
	path := t.TempDir()
	l := newLayout(t, path)
	used := artifact(t, l, "1", "one", 2, nil)
	artifact(t, l, "2", "two", 2, nil)
	put(t, l, []byte("of somebody who is still writing"))
	before := filesOf(t, path)
	lost := put(t, l, []byte("lost"))
	absent := "sha256:" + strings.Repeat("0", 64)
	for range 2 {
		if err := l.Drop(t.Context(), string(used.Digest), string(lost.Digest), absent, "../../index.json"); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, l)
	if diff := cmp.Diff(before, filesOf(t, path)); diff != "" {
		t.Errorf("Drop(...): -want, +got:\n%.1000s", diff)
	}
}
